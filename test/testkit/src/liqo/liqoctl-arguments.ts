/** The commands of liqoctl that are played here, as far as they were understood. */
export type LiqoctlCommand =
  | {
      readonly kind: "peer" | "unpeer" | "unauthenticate";
      readonly kubeconfig: string;
      readonly remoteKubeconfig: string;
      readonly flags: Flags;
    }
  | {
      readonly kind: "force-unpeer";
      readonly kubeconfig: string;
      readonly clusterId: string;
      readonly flags: Flags;
    }
  | { readonly kind: "version"; readonly flags: Flags }
  /** What liqoctl says about it, and how it ends. */
  | { readonly kind: "refused"; readonly output: string; readonly code: number };

export type Flags = ReadonlyMap<string, string>;

type FlagKind = "text" | "boolean";
type FlagTable = Readonly<Record<string, FlagKind>>;

const COMMON: FlagTable = {
  kubeconfig: "text",
  context: "text",
  cluster: "text",
  user: "text",
  verbose: "boolean",
  "skip-confirm": "boolean",
};
const TWO_CLUSTERS: FlagTable = {
  ...COMMON,
  "remote-kubeconfig": "text",
  "remote-context": "text",
  // Where Liqo is installed: these commands have no --liqo-namespace.
  namespace: "text",
  "remote-namespace": "text",
  timeout: "text",
};
const PEER: FlagTable = {
  ...TWO_CLUSTERS,
  "skip-validation": "boolean",
  "networking-disabled": "boolean",
  "create-resource-slice": "boolean",
  "create-virtual-node": "boolean",
  "resource-slice-class": "text",
  "gw-server-service-location": "text",
  "gw-server-service-type": "text",
  "gw-server-service-port": "text",
  "gw-client-address": "text",
  "gw-client-port": "text",
  mtu: "text",
  "in-band": "boolean",
  "proxy-url": "text",
  cpu: "text",
  memory: "text",
  pods: "text",
  resource: "text",
};
const UNPEER: FlagTable = { ...TWO_CLUSTERS, wait: "boolean", "delete-namespaces": "boolean" };
const UNAUTHENTICATE: FlagTable = { ...TWO_CLUSTERS, wait: "boolean" };
const VERSION: FlagTable = { ...COMMON, client: "boolean" };
const GATEWAY_TYPES: readonly string[] = ["LoadBalancer", "NodePort", "ClusterIP"];
const GO_DURATION = /^(\d+(\.\d+)?(ns|us|ms|s|m|h))+$/;

/** Reads a command line as liqoctl's own parser does: `--a b` and `--a=b`, and booleans only with `=`. */
export function readLiqoctlArguments(args: readonly string[]): LiqoctlCommand {
  const [first, second, ...rest] = args;
  if (first === "peer" || first === "unpeer" || first === "unauthenticate")
    return twoClusters(first, args.slice(1));
  if (first === "version") return version(args.slice(1));
  if (first === "force" && second === "unpeer") return forceUnpeer(rest);
  // For words that it does not know, liqoctl shows its help and ends well.
  return { kind: "refused", code: 0, output: "liqoctl is a CLI tool to install and manage Liqo.\n" };
}

const TABLES = { peer: PEER, unpeer: UNPEER, unauthenticate: UNAUTHENTICATE } as const;

function twoClusters(kind: keyof typeof TABLES, args: readonly string[]): LiqoctlCommand {
  const words = readWords(args, TABLES[kind]);
  if (words.problem !== undefined) return refused(words.problem);
  const [extra] = words.positional;
  if (extra !== undefined) return refused(`unknown command "${extra}" for "liqoctl ${kind}"`);
  const { flags } = words;
  const gateway = flags.get("gw-server-service-type");
  if (gateway !== undefined && !GATEWAY_TYPES.includes(gateway))
    return refused(
      `invalid argument "${gateway}" for "--gw-server-service-type" flag: ${gateway} is not included in ${GATEWAY_TYPES.join(",")}`,
    );
  const timeout = flags.get("timeout");
  if (timeout !== undefined && !GO_DURATION.test(timeout))
    return refused(`invalid argument "${timeout}" for "--timeout" flag: time: invalid duration "${timeout}"`);
  return {
    kind,
    kubeconfig: flags.get("kubeconfig") ?? "",
    remoteKubeconfig: flags.get("remote-kubeconfig") ?? "",
    flags,
  };
}

function version(args: readonly string[]): LiqoctlCommand {
  const { flags, problem } = readWords(args, VERSION);
  return problem === undefined ? { kind: "version", flags } : refused(problem);
}

function forceUnpeer(args: readonly string[]): LiqoctlCommand {
  const { flags, positional, problem } = readWords(args, COMMON);
  if (problem !== undefined) return refused(problem);
  const [clusterId] = positional;
  if (clusterId === undefined || positional.length > 1)
    return refused(`accepts 1 arg(s), received ${positional.length}`);
  return { kind: "force-unpeer", kubeconfig: flags.get("kubeconfig") ?? "", clusterId, flags };
}

interface Words {
  readonly flags: Map<string, string>;
  readonly positional: string[];
  readonly problem?: string;
}

function readWords(args: readonly string[], known: FlagTable): Words {
  const flags = new Map<string, string>();
  const positional: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? "";
    if (word === "--") return { flags, positional: [...positional, ...args.slice(at + 1)] };
    if (!word.startsWith("-")) {
      positional.push(word);
      continue;
    }
    const { name, kind, given } = readFlag(word, known);
    if (kind === undefined) return { flags, positional, problem: `unknown flag: ${word.split("=")[0]}` };
    const value = given ?? (kind === "boolean" ? "true" : args[++at]);
    if (value === undefined) return { flags, positional, problem: `flag needs an argument: --${name}` };
    flags.set(name, value);
  }
  return { flags, positional };
}

interface Flag {
  readonly name: string;
  /** Undefined: there is no such flag. */
  readonly kind: FlagKind | undefined;
  readonly given: string | undefined;
}

function readFlag(word: string, known: FlagTable): Flag {
  const [, name = "", , given] = /^--([^=]*)(=(.*))?$/s.exec(word) ?? [];
  return { name, kind: known[name], given };
}

function refused(problem: string): LiqoctlCommand {
  return { kind: "refused", code: 1, output: `Error: ${problem}\n` };
}
