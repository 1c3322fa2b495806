import { seededRandom } from "@resource-broker/testkit";
import type { Environment } from "./environment/environment.ts";
import type { InvariantChecker } from "./invariants/invariant-checker.ts";
import { runLinearizability } from "./linearizability.ts";
import { runScenario } from "./scenario.ts";

/** Every so many seeds a world whose histories are judged; all others are markets. */
const LINEARIZABILITY_EVERY = 5;

export interface SimulationResult {
  readonly seed: number;
  readonly tally: Environment["tally"];
  readonly counts: InvariantChecker["counts"];
  /** Histories that were found to be linearizable. */
  readonly histories: number;
  /** The promise that was not kept, and what happened before. */
  readonly failure?: { readonly problem: string; readonly trace: readonly string[] };
}

/** One world from one seed: the same seed and number of operations is the same world, step by step. */
export async function simulate(seed: number, operations: number): Promise<SimulationResult> {
  const random = seededRandom(seed);
  const { setting: environment, histories } =
    seed % LINEARIZABILITY_EVERY === 0
      ? await runLinearizability(random, operations)
      : { setting: await runScenario(random, operations), histories: 0 };
  const { problem } = environment.findings;
  return {
    seed,
    tally: environment.tally,
    counts: environment.checker.counts,
    histories,
    ...(problem === undefined ? {} : { failure: { problem, trace: environment.trace.lines() } }),
  };
}
