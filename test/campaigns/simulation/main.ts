/**
 * `npm run simulate -- --seeds 200 --ops 100` runs one simulation per seed, with random faults, and checks every invariant
 * of the ledger after each step. `--seed S` is the first seed, `--minutes M` limits the time, `--record` appends the result
 * to docs/campaigns.jsonl. The simulation uses no real time, files or network: the same seed gives the same steps.
 */
import { campaignProgram } from "../frame/campaign.ts";
import { type SimulationResult, simulate } from "./simulation.ts";

const MINUTE_MS = 60_000;
const REPORT_EVERY_MS = 15_000;
const SHOWN_STEPS = 40;
const FLAGS = { seeds: 200, ops: 100, seed: 1, minutes: Number.POSITIVE_INFINITY };

await campaignProgram("simulate", FLAGS, async ({ seeds, ops, seed: first, minutes }) => {
  const startedAt = Date.now();
  const total = new Map<string, number>();
  const isOver = (done: number): boolean => done >= seeds || Date.now() - startedAt >= minutes * MINUTE_MS;
  const report = (done: number): void => {
    const text = [...total].map(([name, number]) => `${number.toLocaleString("en")} ${name}`).join(", ");
    const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
    console.log(`${done} seeds x ${ops} operations in ${seconds} s: ${text}`);
  };
  const reporting = setInterval(() => report(done), REPORT_EVERY_MS);
  let done = 0;
  let failed: FailedSimulation | undefined;
  for (; failed === undefined && !isOver(done); done++) {
    const result = await simulate(first + done, ops);
    for (const [name, number] of countsIn(result)) total.set(name, (total.get(name) ?? 0) + number);
    if (hasFailed(result)) failed = result;
  }
  clearInterval(reporting);
  report(done);
  const figures = { seed: first, seeds: done, ops, ...Object.fromEntries(total) };
  if (failed === undefined) return { campaign: "simulation", figures, violations: [] };
  const { seed, failure } = failed;
  for (const line of failure.trace.slice(-SHOWN_STEPS)) console.error(line);
  const violations = [`in seed ${seed}: ${failure.problem}`];
  return { campaign: "simulation", figures, violations, repeat: { seed, seeds: 1 } };
});

type FailedSimulation = SimulationResult & Required<Pick<SimulationResult, "failure">>;

function hasFailed(result: SimulationResult): result is FailedSimulation {
  return result.failure !== undefined;
}

function countsIn({ tally, counts, histories }: SimulationResult): [string, number][] {
  return Object.entries({ ...tally, ...counts, histories });
}
