/**
 * `npm run overload`: how much the broker serves when it is asked ten times as much as it can serve: at least 80 %, no
 * renewal turned away, and normal again within 10 s. `--seconds N` under each load, `--factor F` times the load,
 * `--record` appends the result to docs/campaigns.jsonl. Prints figures; ends with 1 when a promise is broken.
 */
import { startBroker, testCertificates } from "@resource-broker/testkit";
import { campaignProgram } from "../../frame/campaign.ts";
import { type OverloadResult, runOverload } from "./run-overload.ts";

const MOST_WAITING = 100;
const LEAST_GOODPUT = 0.8;
const MOST_RECOVERY_MS = 10_000;

await campaignProgram("overload", { seconds: 10, factor: 10 }, async ({ seconds, factor }) => {
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
    const print = (line: string): void => console.log(line);
    result = await runOverload({
      broker,
      certificates,
      seconds,
      factor,
      now: () => performance.now(),
      print,
    });
  } finally {
    await broker.dispose();
  }
  const { sustainable, overloaded, renewals, recoveredAfterMs } = result;
  const goodput = overloaded.goodPerSecond / sustainable.goodPerSecond;
  const goodputPercent = Math.round(100 * goodput);
  console.log(`goodput ${goodputPercent} %, ${renewals.good}/${renewals.sent} renewals served`);
  const violations: string[] = [];
  if (goodput < LEAST_GOODPUT) violations.push(`goodput is ${goodputPercent} % of what is sustainable`);
  if (renewals.good < renewals.sent)
    violations.push(`${renewals.sent - renewals.good} renewals were not served`);
  if (recoveredAfterMs > MOST_RECOVERY_MS)
    violations.push(`normal only after ${Math.round(recoveredAfterMs)} ms`);
  const figures = {
    factor,
    sustainablePerSecond: sustainable.goodPerSecond,
    goodPerSecond: overloaded.goodPerSecond,
    goodputPercent,
    turnedAway: overloaded.turnedAway,
    renewals: renewals.sent,
    renewalsServed: renewals.good,
    recoveredAfterMs: Math.round(recoveredAfterMs),
  };
  return { campaign: "overload", figures, violations };
});
