import {
  choice,
  errorText,
  Fault,
  type Log,
  list,
  parseSettings,
  safeJson,
  safeLine,
  text,
  type Values,
} from "@resource-broker/base";
import { describeProblems, parsePolicy } from "@resource-broker/contract";
import { DEFAULT_POLICY, type Policy } from "@resource-broker/domain";
import { type KubeConfig, loadKubeConfig } from "@resource-broker/kube";
import { describeFailure, EXIT, yamlReader } from "@resource-broker/runtime";
import type { ModeHost } from "../mode-host.ts";
import { demoCertificates } from "../start/certificates.ts";
import { lineText, wantsColours } from "../text.ts";
import { inspectClusters } from "./inspect-clusters.ts";
import { type Report, reportRows } from "./report.ts";

const CONTEXTS_SETTINGS = {
  contexts: list({ description: "Contexts of the kubeconfig.", defaultValue: [], placeholder: "A,B" }),
  kubeconfig: text({ description: "Another kubeconfig.", defaultValue: "", placeholder: "FILE" }),
  policy: text({ description: "Prices and weights.", defaultValue: "", placeholder: "FILE" }),
  output: choice({ description: "How to print.", defaultValue: "text", choices: ["text", "json"] }),
};

const CONTEXTS_HELP = `Usage: npm start -- --contexts A,B[,C…] [FLAGS]

Your own clusters, read-only: lists their nodes and pods through your kubeconfig, lets a broker on this
machine decide, and prints who could lend what, which pods wait today, and which cluster would take each
of them at what price, with the reasons. Nothing is written to any cluster, nothing is installed, and
no data leaves this machine.

It needs the rights get, list and watch on nodes and pods, in all namespaces, and no others.

  --kubeconfig=FILE  instead of KUBECONFIG or ~/.kube/config
  --policy=FILE      a broker's policy: prices by cluster, weights, quotas (docs/policy.md)
  -o, --output=json  one JSON object instead of text
  --help             this text`;

type Options = Values<typeof CONTEXTS_SETTINGS>;

const silent = (): void => undefined;
/** Errors are returned as faults, so nothing is logged. */
const NO_LOG: Log = { info: silent, warn: silent, error: silent };

/** `npm start -- --contexts eu,us,lab`. */
export async function contextsCommand(argv: readonly string[], host: ModeHost): Promise<void> {
  // First: --help needs no context.
  if (argv.includes("--help")) return void host.hostProcess.stdout.write(`${CONTEXTS_HELP}\n`);
  const reading = parseSettings(CONTEXTS_SETTINGS, { argv: withLongNames(argv), env: {}, envPrefix: "" });
  if (!reading.ok)
    return host.end(EXIT.usage, ...reading.problems, "all flags: npm start -- --contexts --help");
  try {
    const report = await inspect(reading.values, host);
    print(report, reading.values.output, host.hostProcess);
    const unread = report.clusters.filter(({ problem }) => problem !== undefined);
    host.end(unread.length === 0 ? 0 : EXIT.failure);
  } catch (error) {
    const isUsage = error instanceof Fault && error.code === "invalid";
    host.end(isUsage ? EXIT.usage : EXIT.failure, ...describeFailure(error, []).split("\n"));
  }
}

async function inspect(options: Options, host: ModeHost): Promise<Report> {
  const { clock, randomBytes } = host;
  const { stdin, stderr, env } = host.hostProcess;
  const file = options.policy === "" ? undefined : options.policy;
  const configs = await openContexts(options, env);
  const policy = await readPolicy(file);
  const names = [...configs.keys()].join(", ");
  // On standard error: what is printed stays clean.
  stderr.write(`Listing nodes and pods of ${safeLine(names)}. Nothing is written.\n`);
  return inspectClusters(configs, {
    clock,
    log: NO_LOG,
    env,
    isInteractive: stdin.isTTY,
    userAgent: "resource-broker-contexts",
    policy,
    startBroker: async () => {
      // Loaded late: most errors are found before, and they should be reported fast.
      const { startLocalBroker } = await import("./local-broker.ts");
      const certificates = demoCertificates({ now: clock.wallMs, randomBytes });
      return startLocalBroker({ certificates, policy: file });
    },
  });
}

function print(
  report: Report,
  form: "text" | "json",
  { stdout, env }: Pick<NodeJS.Process, "stdout" | "env">,
): void {
  if (form === "json") return void stdout.write(`${safeJson(JSON.stringify(report, undefined, 2))}\n`);
  const hasColours = wantsColours(stdout, env);
  for (const row of reportRows(report)) stdout.write(`${lineText(row, hasColours)}\n`);
}

/** The clusters that the contexts stand for. All problems with their names are reported together. */
async function openContexts(
  { contexts, kubeconfig }: Options,
  env: NodeJS.ProcessEnv,
): Promise<ReadonlyMap<string, KubeConfig>> {
  if (contexts.length === 0) {
    throw new Fault("invalid", "--contexts: name contexts of your kubeconfig, such as --contexts eu,us");
  }
  const files = kubeconfig === "" ? {} : { files: [kubeconfig] };
  const opened = new Map<string, KubeConfig>();
  const problems: string[] = [];
  for (const context of new Set(contexts)) {
    try {
      opened.set(context, await loadKubeConfig({ ...files, context, env }));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      problems.push(error.message);
    }
  }
  if (problems.length > 0) throw new Fault("invalid", [...new Set(problems)].join("\n"));
  return opened;
}

/** The broker's policy file, read before the broker does: what is wrong with it is said in time. */
async function readPolicy(file: string | undefined): Promise<Policy> {
  if (file === undefined) return DEFAULT_POLICY;
  const content = await yamlReader()(file).catch((cause: unknown) => {
    throw new Fault("invalid", `--policy: ${errorText(cause)}`, { cause });
  });
  const parsed = parsePolicy(content);
  if (parsed.ok) return parsed.policy;
  throw new Fault("invalid", `--policy: ${file}: ${describeProblems(parsed.problems)}`);
}

/** `-o json` as people write it for kubectl. */
function withLongNames(argv: readonly string[]): string[] {
  return argv.map((word) =>
    word.replace(/^-o(?=$|=)/, "--output").replace(/^-o(?=(?:json|text)$)/, "--output="),
  );
}
