import { setTimeout as sleep } from "node:timers/promises";
import type { BrokerProcess } from "@resource-broker/testkit";
import type { Context } from "../../evaluation-test.ts";
import { sampleProcess } from "../../measure/sample-process.ts";
import { pidOf } from "../../measure/start-programs.ts";
import { countFreshClusters } from "./fresh-clusters.ts";
import type { Fleet, StaircasePlan, Step } from "./staircase.ts";
import { fleetText } from "./step-metrics.ts";

const SAMPLE_EVERY_MS = 1_000;

/** What all parts of the staircase share. */
export interface StepContext {
  readonly plan: StaircasePlan;
  readonly onActivity: (doing: string) => void;
  /** So many milliseconds of the whole have passed. */
  readonly advance: (ms: number, doing: string) => void;
}

interface StepOptions {
  readonly stepContext: StepContext;
  readonly fleet: Fleet;
  readonly count: number;
  /** So far. */
  readonly failures: () => number;
}

/** Lets everything calm down, then watches the broker. */
export async function watchStep(
  { signal }: Context,
  broker: BrokerProcess,
  { stepContext, fleet, count, failures }: StepOptions,
): Promise<Step> {
  const { windowMs, settleMs } = stepContext.plan;
  const failedBefore = failures();
  await sleep(settleMs, undefined, { signal });
  let seenMs = 0;
  const samples = await sampleProcess(pidOf(broker), {
    everyMs: SAMPLE_EVERY_MS,
    forMs: windowMs,
    signal,
    onSample: ({ atMs }) => {
      stepContext.advance(atMs - seenMs, fleetText(count, fleet));
      seenMs = atMs;
    },
  });
  return {
    fleet,
    count,
    samples,
    heard: await countFreshClusters(broker),
    failed: failures() - failedBefore,
  };
}
