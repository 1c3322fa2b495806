import type { Fault } from "@resource-broker/contract";
import type { ResourceVector } from "@resource-broker/domain";
import { type KubeClient, toFault, trouble, wait } from "@resource-broker/kube";
import type { Log, MachineTime } from "@resource-broker/runtime";
import { usageFrom } from "./node-metrics.ts";

const NODE_METRICS = "/apis/metrics.k8s.io/v1beta1/nodes";
/** Who serves no metrics, or does not show them, will hardly do so a moment later. */
const ABSENT_PAUSE_MS = 10 * 60_000;

export interface UsageMeterOptions {
  /** How often to ask at most: once for each advertisement. */
  readonly intervalMs: number;
}

export interface UsageMeterDeps {
  readonly client: Pick<KubeClient, "read">;
  /** Whether a node's capacity is advertised: only then does its use belong beside it. */
  readonly isCounted: (nodeName: string) => boolean;
  readonly machine: MachineTime;
  readonly log: Log;
}

/** What the cluster really uses, as metrics.k8s.io tells it: for people to see, nothing is decided by it. */
export interface UsageMeter {
  readonly start: () => void;
  readonly stop: () => Promise<void>;
  /** Undefined: nobody measures, or the last try failed. */
  readonly current: () => ResourceVector | undefined;
}

export function usageMeter({ intervalMs }: UsageMeterOptions, deps: UsageMeterDeps): UsageMeter {
  const { client, isCounted, machine, log } = deps;
  const reading = trouble({ log, machine, fields: {}, what: "reading metrics.k8s.io" });
  const ending = new AbortController();
  const { signal } = ending;
  let used: ResourceVector | undefined;
  let wasAbsent = false;
  let running: Promise<void> = Promise.resolve();

  const measure = async (): Promise<number> => {
    try {
      used = usageFrom(await client.read(NODE_METRICS, { signal }), isCounted);
      reading.ends();
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
    reading.begins(fault);
    return fault.code === "forbidden" ? ABSENT_PAUSE_MS : intervalMs;
  };
  const run = async (): Promise<void> => {
    while (!signal.aborted) await wait(await measure(), { machine, signal });
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
