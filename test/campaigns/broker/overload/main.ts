/**
 * `npm run overload`: how much the broker serves when it is asked ten times as much as it can serve: at least 80 %, no
 * renewal turned away, and normal again within 10 s. `--seconds N` under each load, `--factor F` times the load,
 * `--record` appends the result to docs/campaigns.jsonl. Prints figures; ends with 1 when a promise is broken.
 */
import { readFlags, recordCampaign, startBroker, testCertificates } from "@resource-broker/testkit";
import { type OverloadResult, runOverload } from "./run-overload.ts";

const MOST_WAITING = 100;
const LEAST_GOODPUT = 0.8;
const MOST_RECOVERY_MS = 10_000;

const flags = readFlags(process.argv.slice(2), [
  ["seconds", 10],
  ["factor", 10],
]);
if (!flags.ok) {
  console.error(flags.problem);
  process.exit(2);
}
const { seconds = 0, factor = 0 } = flags.numbers;
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

const startedAt = Date.now();
const certificates = await testCertificates();
// So few may wait that the clients of this program are enough to ask for too much.
const broker = await startBroker({
  certificates,
  flags: [`--max-waiting=${MOST_WAITING}`],
  // Few clients stand for many.
  policy: { defaultQuota: { reservations: 100_000 } },
});
let result: OverloadResult;
try {
  const now = (): number => performance.now();
  result = await runOverload({
    broker,
    certificates,
    seconds,
    factor,
    now,
    print: (line) => console.log(line),
  });
} finally {
  await broker.dispose();
}
const { sustainable, overloaded, renewals, recoveredAfterMs } = result;
const goodput = overloaded.goodPerSecond / sustainable.goodPerSecond;
const problems = [
  ...(goodput >= LEAST_GOODPUT ? [] : [`goodput is ${(100 * goodput).toFixed(0)} % of what is sustainable`]),
  ...(renewals.good === renewals.sent ? [] : [`${renewals.sent - renewals.good} renewals were not served`]),
  ...(recoveredAfterMs <= MOST_RECOVERY_MS ? [] : [`normal only after ${Math.round(recoveredAfterMs)} ms`]),
];
console.log(`goodput ${(100 * goodput).toFixed(0)} %, ${renewals.good}/${renewals.sent} renewals served`);
for (const problem of problems) console.error(`BROKEN: ${problem}`);
if (flags.isRecorded)
  await recordCampaign(
    {
      campaign: "overload",
      seed: 1,
      factor,
      sustainablePerSecond: sustainable.goodPerSecond,
      goodPerSecond: overloaded.goodPerSecond,
      goodputPercent: Math.round(100 * goodput),
      turnedAway: overloaded.turnedAway,
      renewals: renewals.sent,
      renewalsServed: renewals.good,
      recoveredAfterMs: Math.round(recoveredAfterMs),
      violations: problems.length,
    },
    { startedAt, endedAt: Date.now() },
  );
process.exit(problems.length === 0 ? 0 : 1);
