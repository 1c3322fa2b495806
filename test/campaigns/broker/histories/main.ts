/**
 * `npm run chaos:histories -- --count 40`: real clients reserve, release and read at providers of their own while the
 * broker is killed, paused and cut off. Every history must be explained by one call after the other (linearizable).
 * `--seed S` repeats a run's choices, `--record` appends the result to docs/campaigns.jsonl.
 */
import { readFlags, recordCampaign, seededRandom } from "@resource-broker/testkit";
import { oneBroker } from "../one-broker.ts";
import { runHistories } from "./run-histories.ts";

/** At the same time, on one broker. */
const TOGETHER = 4;

const flags = readFlags(process.argv.slice(2), [
  ["count", 8],
  ["seed", Date.now() % 1_000_000_000],
]);
if (!flags.ok) {
  console.error(flags.problem);
  process.exit(2);
}
const { count = 0, seed = 0 } = flags.numbers;
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

const startedAt = Date.now();
const total = { histories: 0, calls: 0, strikes: 0 };
const violations: string[] = [];
const target = await oneBroker();
try {
  while (total.histories < count && violations.length === 0) {
    const random = seededRandom(seed).fork(total.histories);
    const result = await runHistories(target, random, { count: TOGETHER, from: total.histories });
    total.histories += result.histories;
    total.calls += result.calls;
    total.strikes += result.strikes.length;
    violations.push(...result.violations);
    console.log(`${total.histories} histories of ${total.calls} calls under ${total.strikes} strikes`);
  }
} finally {
  await target.dispose();
}
for (const violation of violations) console.error(`VIOLATION: ${violation}`);
if (violations.length > 0)
  console.error(`Repeat it with: npm run chaos:histories -- --count ${count} --seed ${seed}`);
if (flags.isRecorded)
  await recordCampaign(
    { campaign: "histories", seed, ...total, violations: violations.length },
    { startedAt, endedAt: Date.now() },
  );
process.exit(violations.length === 0 ? 0 : 1);
