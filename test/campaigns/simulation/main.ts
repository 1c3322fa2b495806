/**
 * `npm run simulate -- --seeds 200 --ops 100` runs one simulation per seed, with random faults, and checks every invariant
 * of the ledger after each step. `--seed S` is the first seed, `--minutes M` limits the time, `--record` appends the result
 * to docs/campaigns.jsonl. The simulation uses no real time, files or network: the same seed gives the same steps.
 */
import { readFlags, recordCampaign } from "@resource-broker/testkit";
import { type SimulationResult, simulate } from "./simulation.ts";

const MINUTE_MS = 60_000;
const REPORT_EVERY_MS = 15_000;
const SHOWN_STEPS = 40;

const flags = readFlags(process.argv.slice(2), [["seeds", 200], ["ops", 100], ["seed", 1], ["minutes"]]);
if (!flags.ok) {
  console.error(flags.problem);
  process.exit(2);
}
const { seeds = 0, ops = 0, seed: first = 0, minutes = Number.POSITIVE_INFINITY } = flags.numbers;
const startedAt = Date.now();
const total = new Map<string, number>();
let reportedAt = startedAt;
let failure: SimulationResult | undefined;
let done = 0;
while (done < seeds && failure === undefined && Date.now() - startedAt < minutes * MINUTE_MS) {
  const result = await simulate(first + done, ops);
  done++;
  count(result);
  if (result.failure !== undefined) failure = result;
  if (Date.now() - reportedAt > REPORT_EVERY_MS) report();
}
report();
if (failure !== undefined) explain(failure);
if (flags.isRecorded) {
  const counts = { seeds: done, ops, ...Object.fromEntries(total) };
  const violations = failure === undefined ? 0 : 1;
  await recordCampaign(
    { campaign: "simulation", seed: first, ...counts, violations },
    { startedAt, endedAt: Date.now() },
  );
}
process.exit(failure === undefined ? 0 : 1);

function count({ tally, counts, histories }: SimulationResult): void {
  for (const [name, number] of Object.entries({ ...tally, ...counts, histories }))
    total.set(name, (total.get(name) ?? 0) + number);
}

function report(): void {
  reportedAt = Date.now();
  const seconds = ((reportedAt - startedAt) / 1000).toFixed(1);
  const text = [...total].map(([name, number]) => `${number.toLocaleString("en")} ${name}`).join(", ");
  console.log(`${done} seeds x ${ops} operations in ${seconds} s: ${text}`);
}

function explain({ seed, failure: broken }: SimulationResult): void {
  for (const line of broken?.trace.slice(-SHOWN_STEPS) ?? []) console.error(line);
  console.error(`VIOLATION in seed ${seed}: ${broken?.problem}`);
  console.error(`Repeat it with: npm run simulate -- --seed ${seed} --seeds 1 --ops ${ops}`);
}
