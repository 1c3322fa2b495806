/**
 * `npm run chaos:histories -- --count 40`: real clients reserve, release and read at providers of their own while the
 * broker is killed, paused and cut off. Every history must be explained by one call after the other (linearizable).
 * `--seed S` repeats a run's choices, `--record` appends the result to docs/campaigns.jsonl.
 */
import { seededRandom } from "@resource-broker/testkit";
import { ANY_SEED, campaignProgram } from "../../frame/campaign.ts";
import { oneBroker } from "../one-broker.ts";
import { runHistories } from "./run-histories.ts";

/** At the same time, on one broker. */
const TOGETHER = 4;

await campaignProgram("chaos:histories", { count: 8, seed: ANY_SEED }, async ({ count, seed }) => {
  const total = { histories: 0, undecided: 0, calls: 0, waited: 0, strikes: 0 };
  const violations: string[] = [];
  const target = await oneBroker();
  try {
    while (total.histories < count && violations.length === 0) {
      const random = seededRandom(seed).fork(total.histories);
      const result = await runHistories(target, random, { count: TOGETHER, from: total.histories });
      total.histories += result.histories;
      total.undecided += result.undecided;
      total.calls += result.calls;
      total.waited += result.waited;
      total.strikes += result.strikes.length;
      violations.push(...result.violations);
      const undecided = total.undecided === 0 ? "" : `, ${total.undecided} undecided`;
      console.log(
        `${total.histories} histories of ${total.calls} calls, ${total.waited} waited, under ${total.strikes} strikes${undecided}`,
      );
    }
  } finally {
    await target.dispose();
  }
  return { campaign: "histories", figures: { seed, ...total }, violations };
});
