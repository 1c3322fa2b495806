import {
  add,
  type Clock,
  type Fault,
  type Log,
  NO_RESOURCES,
  parseAmount,
  type ResourceVector,
  resourceVector,
  toFault,
} from "@resource-broker/base";
import { failureReporter, type KubeClient, wait } from "@resource-broker/kube";

const NODE_METRICS = "/apis/metrics.k8s.io/v1beta1/nodes";
/** A missing or forbidden API rarely appears within moments. */
const ABSENT_PAUSE_MS = 10 * 60_000;

export interface UsageMeterOptions {
  /** The polling interval: once for each advertisement. */
  readonly intervalMs: number;
}

export interface UsageMeterDeps {
  readonly client: Pick<KubeClient, "read">;
  /** Whether a node's capacity is advertised: only then its consumption counts. */
  readonly isCounted: (nodeName: string) => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/** Real consumption from metrics.k8s.io. It is only shown; no decision depends on it. */
export interface UsageMeter {
  readonly start: () => void;
  readonly stop: () => Promise<void>;
  /** Undefined: no metrics, or the last read failed. */
  readonly current: () => ResourceVector | undefined;
}

export function usageMeter({ intervalMs }: UsageMeterOptions, deps: UsageMeterDeps): UsageMeter {
  const { client, isCounted, clock, log } = deps;
  const reporter = failureReporter({ log, clock, fields: {}, what: "reading metrics.k8s.io" });
  const ending = new AbortController();
  const { signal } = ending;
  let used: ResourceVector | undefined;
  let wasAbsent = false;
  let running: Promise<void> = Promise.resolve();

  const measure = async (): Promise<number> => {
    try {
      used = usageFrom(await client.read(NODE_METRICS, { signal }), isCounted);
      reporter.recovered();
      wasAbsent = false;
      return intervalMs;
    } catch (error) {
      used = undefined;
      return signal.aborted ? 0 : pauseAfter(toFault(error));
    }
  };
  const pauseAfter = (fault: Fault): number => {
    if (fault.code === "not-found") {
      if (!wasAbsent) log.info({}, "metrics.k8s.io is not served: real consumption is not advertised");
      wasAbsent = true;
      return ABSENT_PAUSE_MS;
    }
    reporter.failed(fault);
    return fault.code === "forbidden" ? ABSENT_PAUSE_MS : intervalMs;
  };
  const run = async (): Promise<void> => {
    while (!signal.aborted) await wait(await measure(), { clock, signal });
  };

  return {
    start: () => {
      running = run();
    },
    stop: async () => {
      ending.abort();
      await running;
    },
    current: () => used,
  };
}

/** Real consumption of the counted nodes, from a list of metrics.k8s.io; undefined: no data. */
export function usageFrom(
  list: unknown,
  isCounted: (nodeName: string) => boolean,
): ResourceVector | undefined {
  let used: ResourceVector | undefined;
  for (const item of itemsOf(list)) {
    const name = textAt(recordAt(item, "metadata"), "name");
    if (name === undefined || !isCounted(name)) continue;
    used = add(used ?? NO_RESOURCES, usageOf(recordAt(item, "usage")));
  }
  return used;
}

/** Metrics may be in nanocores; unreadable values count as zero. */
function usageOf(usage: unknown): ResourceVector {
  return resourceVector({
    cpuMillis: amountAt(usage, "cpu", "milli"),
    memoryBytes: amountAt(usage, "memory", "one"),
  });
}

function amountAt(usage: unknown, name: string, unit: "milli" | "one"): number {
  const parsed = parseAmount(textAt(usage, name) ?? "", { unit, rounding: "up" });
  return parsed.ok ? Math.max(0, parsed.amount) : 0;
}

function itemsOf(list: unknown): readonly unknown[] {
  const items = recordAt(list, "items");
  return Array.isArray(items) ? items : [];
}

function textAt(value: unknown, name: string): string | undefined {
  const found = recordAt(value, name);
  return typeof found === "string" ? found : undefined;
}

function recordAt(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.getOwnPropertyDescriptor(value, name)?.value;
}
