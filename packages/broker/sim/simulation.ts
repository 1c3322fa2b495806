import { seededRandom } from "@resource-broker/testkit";
import { runCounter } from "./counter.ts";
import { runMarket } from "./market.ts";
import type { Witness } from "./oracle/witness.ts";
import type { Setting } from "./stage/setting.ts";

/** Every so many seeds a world whose histories are judged; all others are markets. */
const COUNTER_EVERY = 5;

export interface SimulationResult {
  readonly seed: number;
  readonly tally: Setting["tally"];
  readonly counts: Witness["counts"];
  /** Histories that were found to be linearizable. */
  readonly histories: number;
  /** The promise that was not kept, and what happened before. */
  readonly failure?: { readonly problem: string; readonly trace: readonly string[] };
}

/** One world from one seed: the same seed and number of operations is the same world, step by step. */
export async function simulate(seed: number, operations: number): Promise<SimulationResult> {
  const random = seededRandom(seed);
  const { setting, histories } =
    seed % COUNTER_EVERY === 0
      ? await runCounter(random, operations)
      : { setting: await runMarket(random, operations), histories: 0 };
  const { problem } = setting.findings;
  return {
    seed,
    tally: setting.tally,
    counts: setting.witness.counts,
    histories,
    ...(problem === undefined ? {} : { failure: { problem, trace: setting.trace.lines() } }),
  };
}
