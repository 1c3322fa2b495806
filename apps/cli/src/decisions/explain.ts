import type { DecisionDTO } from "@resource-broker/contract";
import type { Run, Values } from "../cli/command.ts";
import type { Host } from "../cli/host.ts";
import { withBroker } from "../connection/broker.ts";
import { isRequest, requestDecision } from "../objects/request-decision.ts";
import { stylerFor } from "../output/colour.ts";
import type { OutputFormat } from "../output/output-option.ts";
import { print } from "../output/print.ts";
import type { EXPLAIN_OPTIONS } from "./options.ts";
import { decisionText } from "./print-decision.ts";
import { readDecision } from "./read-decision.ts";

export const explain: Run<typeof EXPLAIN_OPTIONS> = async ({ options, words }, host) => {
  const [word = ""] = words;
  const show = (subject: string): Promise<void> =>
    withBroker(options, host, async (broker) => {
      const { value } = await readDecision(broker, subject);
      printDecision(value, options.output, host);
    });
  await (isRequest(word) ? explainRequest(word, { options, host, show }) : show(word));
};

interface ExplainContext {
  readonly options: Values<typeof EXPLAIN_OPTIONS>;
  readonly host: Host;
  readonly show: (subject: string) => Promise<void>;
}

/** The request names its decision. If the broker cannot be called, the explanation in the request's status is printed. */
async function explainRequest(word: string, { options, host, show }: ExplainContext): Promise<void> {
  const { kubeconfig, namespace, "kube-context": context } = options;
  const { decisionId, explanation } = await requestDecision(word, { kubeconfig, namespace, context }, host);
  try {
    await show(`decision/${decisionId}`);
  } catch (error) {
    if (explanation !== undefined) host.note(`What the agent wrote down:\n${explanation}\n`);
    throw error;
  }
}

function printDecision(decision: DecisionDTO, output: OutputFormat, host: Host): void {
  const styled = stylerFor(host);
  print(
    {
      data: decision,
      table: () => decisionText(decision, { styled, isWide: false }),
      wide: () => decisionText(decision, { styled, isWide: true }),
      names: () => [decision.id],
    },
    output,
    host,
  );
}
