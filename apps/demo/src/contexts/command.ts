import { Fault, parseSettings, safeJson, safeLine, type Values } from "@resource-broker/contract";
import { type Clock, describeFailure, EXIT, type Log } from "@resource-broker/runtime";
import { terminalFeatures } from "../report/choose-report.ts";
import { demoCertificates } from "../start/certificates.ts";
import { renderLine } from "../view/line.ts";
import { inspectClusters } from "./look-at-clusters.ts";
import { openContexts } from "./open-contexts.ts";
import { reportRows } from "./print-report.ts";
import { readPolicy } from "./read-policy.ts";
import type { Report } from "./report.ts";
import { CONTEXTS_HELP, CONTEXTS_SETTINGS, withLongNames } from "./settings.ts";

const silent = (): void => undefined;
/** Errors are returned as faults, so nothing is logged. */
const NO_LOG: Log = { info: silent, warn: silent, error: silent };

/** What it needs of its process. */
export interface ContextsHost {
  readonly input: Pick<NodeJS.ReadStream, "isTTY">;
  readonly output: Pick<NodeJS.WriteStream, "isTTY" | "write">;
  /** Progress goes here: what is printed stays clean. */
  readonly errors: Pick<NodeJS.WriteStream, "write">;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly randomBytes: (size: number) => Uint8Array;
  /** Says what went wrong, if anything, and ends the process. */
  readonly end: (code: number, ...problems: readonly string[]) => void;
}

/** `npm start -- --contexts eu,us,lab`. */
export async function contextsCommand(argv: readonly string[], host: ContextsHost): Promise<void> {
  // First: --help needs no context.
  if (argv.includes("--help")) return void host.output.write(`${CONTEXTS_HELP}\n`);
  const reading = parseSettings(CONTEXTS_SETTINGS, { argv: withLongNames(argv), env: {}, envPrefix: "" });
  if (!reading.ok)
    return host.end(EXIT.usage, ...reading.problems, "all flags: npm start -- --contexts --help");
  try {
    const report = await inspect(reading.values, host);
    print(report, reading.values.output, host);
    const unread = report.clusters.filter(({ problem }) => problem !== undefined);
    host.end(unread.length === 0 ? 0 : EXIT.failure);
  } catch (error) {
    const isUsage = error instanceof Fault && error.code === "invalid";
    host.end(isUsage ? EXIT.usage : EXIT.failure, ...describeFailure(error, []).split("\n"));
  }
}

async function inspect(options: Values<typeof CONTEXTS_SETTINGS>, host: ContextsHost): Promise<Report> {
  const { env, clock, randomBytes, errors, input } = host;
  const file = options.policy === "" ? undefined : options.policy;
  const configs = await openContexts({
    contexts: options.contexts,
    kubeconfig: options.kubeconfig === "" ? undefined : options.kubeconfig,
    env,
  });
  const policy = await readPolicy(file);
  const names = [...configs.keys()].join(", ");
  errors.write(`Listing nodes and pods of ${safeLine(names)}. Nothing is written.\n`);
  return inspectClusters(configs, {
    clock,
    log: NO_LOG,
    env,
    isInteractive: input.isTTY,
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

function print(report: Report, form: "text" | "json", { output, env }: ContextsHost): void {
  if (form === "json") return void output.write(`${safeJson(JSON.stringify(report, undefined, 2))}\n`);
  const features = terminalFeatures(env);
  const paint = {
    ...features,
    hasColours: features.hasColours && output.isTTY,
    width: Number.POSITIVE_INFINITY,
  };
  for (const row of reportRows(report)) output.write(`${renderLine(row, paint)}\n`);
}
