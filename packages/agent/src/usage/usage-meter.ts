import {
  add,
  type Clock,
  type Fault,
  isRecord,
  type Log,
  NO_RESOURCES,
  parseAmount,
  type ResourceVector,
  resourceVector,
  toFault,
} from "@resource-broker/base";
import { failureReporter, type KubeClient, loop } from "@resource-broker/kube";

const NODE_METRICS = "/apis/metrics.k8s.io/v1beta1/nodes";
/** A missing or forbidden API rarely appears within moments. */
const ABSENT_PAUSE_MS = 10 * 60_000;

interface UsageMeterDeps {
  readonly client: Pick<KubeClient, "read">;
  /** Whether a node's capacity is advertised: only then its consumption counts. */
  readonly isCounted: (nodeName: string) => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/** Real consumption from metrics.k8s.io, read once for each advertisement. It is only shown; no decision depends on it. */
export function usageMeter({ intervalMs }: { readonly intervalMs: number }, deps: UsageMeterDeps) {
  const { client, isCounted, clock, log } = deps;
  const reporter = failureReporter({ log, clock, fields: {}, what: "reading metrics.k8s.io" });
  /** Undefined: no metrics, or the last read failed. */
  let used: ResourceVector | undefined;
  let wasAbsent = false;

  const measure = async (signal: AbortSignal): Promise<number> => {
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
  const { start, stop } = loop({ clock, round: measure });
  return { start, stop, current: () => used };
}

/** Real consumption of the counted nodes, from a list of metrics.k8s.io; undefined: no data. */
export function usageFrom(
  list: unknown,
  isCounted: (nodeName: string) => boolean,
): ResourceVector | undefined {
  let used: ResourceVector | undefined;
  for (const item of itemsOf(list)) {
    const { metadata, usage } = fieldsOf(item);
    const { name } = fieldsOf(metadata);
    if (typeof name !== "string" || !isCounted(name)) continue;
    used = add(used ?? NO_RESOURCES, usageOf(fieldsOf(usage)));
  }
  return used;
}

/** Metrics may be in nanocores; unreadable values count as zero. */
function usageOf({ cpu, memory }: Fields): ResourceVector {
  return resourceVector({ cpuMillis: amountIn(cpu, "milli"), memoryBytes: amountIn(memory, "one") });
}

function amountIn(value: unknown, unit: "milli" | "one"): number {
  const parsed = parseAmount(typeof value === "string" ? value : "", { unit, rounding: "up" });
  return parsed.ok ? Math.max(0, parsed.amount) : 0;
}

function itemsOf(list: unknown): readonly unknown[] {
  const { items } = fieldsOf(list);
  return Array.isArray(items) ? items : [];
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}
