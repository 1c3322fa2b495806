import { choice, list, text } from "@resource-broker/contract";

export const CONTEXTS_SETTINGS = {
  contexts: list({ description: "Contexts of the kubeconfig.", defaultValue: [], placeholder: "A,B" }),
  kubeconfig: text({ description: "Another kubeconfig.", defaultValue: "", placeholder: "FILE" }),
  policy: text({ description: "Prices and weights.", defaultValue: "", placeholder: "FILE" }),
  output: choice({ description: "How to print.", defaultValue: "text", choices: ["text", "json"] }),
};

export const CONTEXTS_HELP = `Usage: npm start -- --contexts A,B[,C…] [FLAGS]

Your own clusters, read-only: lists their nodes and pods through your kubeconfig, lets a broker on this
machine decide, and prints who could lend what, which pods wait today, and which cluster would take each
of them at what price, with the reasons. Nothing is written to any cluster, nothing is installed, and
no data leaves this machine.

It needs the rights get, list and watch on nodes and pods, in all namespaces, and no others.

  --kubeconfig=FILE  instead of KUBECONFIG or ~/.kube/config
  --policy=FILE      a broker's policy: prices by cluster, weights, quotas (docs/policy.md)
  -o, --output=json  one JSON object instead of text
  --help             this text`;

/** `-o json` as people write it for kubectl. */
export function withLongNames(argv: readonly string[]): string[] {
  return argv.map((word) =>
    word.replace(/^-o(?=$|=)/, "--output").replace(/^-o(?=(?:json|text)$)/, "--output="),
  );
}
