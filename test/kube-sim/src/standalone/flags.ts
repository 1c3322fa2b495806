import { parseArgs } from "node:util";

export const USAGE = `Runs simulated Kubernetes clusters until Ctrl-C, for trying things out and for testing operators.

Usage: npm run kube-sim -- --cluster NAME [--cluster NAME …] [flags]

  --cluster NAME         a cluster to run; may be given several times
  --kubeconfig-dir DIR   where NAME.yaml is written for each of them (default: the current folder)
  --crds PATH            a YAML file, or a folder of them, with CustomResourceDefinitions to install; may be repeated
  --objects PATH         the same for any other objects: nodes, namespaces, pods …
  --port NUMBER          the port of the first cluster; the others follow (default: free ports)
  --still                pods are neither scheduled nor started
  --help                 this text`;

export interface Flags {
  readonly clusters: readonly string[];
  readonly kubeconfigDir: string;
  /** Files and folders, definitions of kinds first. */
  readonly paths: readonly string[];
  readonly port?: number;
  readonly behaves: boolean;
}

export type FlagsResult =
  | { readonly kind: "run"; readonly flags: Flags }
  | { readonly kind: "help" }
  | { readonly kind: "wrong"; readonly problem: string };

const OPTIONS = {
  cluster: { type: "string", multiple: true },
  "kubeconfig-dir": { type: "string" },
  crds: { type: "string", multiple: true },
  objects: { type: "string", multiple: true },
  port: { type: "string" },
  still: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

export function readFlags(args: readonly string[]): FlagsResult {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: OPTIONS,
      strict: true,
      allowPositionals: false,
    });
    if (values.help === true) return { kind: "help" };
    const {
      cluster = [],
      crds = [],
      objects = [],
      "kubeconfig-dir": kubeconfigDir = ".",
      still = false,
    } = values;
    if (cluster.length === 0) return wrong("name at least one cluster: --cluster rome");
    const port = readPort(values.port);
    const paths = [...crds, ...objects];
    return { kind: "run", flags: { clusters: cluster, kubeconfigDir, paths, behaves: !still, ...port } };
  } catch (error) {
    return wrong(error instanceof Error ? error.message : String(error));
  }
}

function readPort(text: string | undefined): Pick<Flags, "port"> {
  if (text === undefined) return {};
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new RangeError(`--port ${text}: must be a number from 1 to 65535`);
  return { port };
}

function wrong(problem: string): FlagsResult {
  return { kind: "wrong", problem };
}
