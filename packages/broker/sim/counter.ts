import { DEFAULT_POLICY } from "@resource-broker/domain";
import { clusterOf, type SeededRandom } from "@resource-broker/testkit";
import { Clerk } from "./cast/clerk.ts";
import { History } from "./histories/history.ts";
import { drawRates } from "./stage/faults.ts";
import { Setting } from "./stage/setting.ts";

const CAPACITY_CPU = 8;
const CLERKS = ["rome", "quito", "lima"] as const;
const LANES = 2;
const REST_MS = 60_000;

/**
 * A world with nothing but reserving, releasing and reading at providers that never change: all that is seen there must
 * be explained by one call after the other.
 */
export async function runCounter(
  random: SeededRandom,
  operations: number,
): Promise<{ readonly setting: Setting; readonly histories: number }> {
  const rates = drawRates(random.fork(1));
  // A copy that the network makes is a call that nobody wrote down; and what ended a day ago may be forgotten.
  rates.duplicate = 0;
  rates.leap = 0;
  const setting = new Setting({
    random: random.fork(2),
    rates,
    policy: { ...DEFAULT_POLICY, stalenessMs: Number.POSITIVE_INFINITY },
    maxWaiting: random.pick([1000, 4]) ?? 1000,
    parties: CLERKS,
    longestJumpMs: 60_000,
    tell: () => undefined,
  });
  const histories = ["paris", "tokyo"].map((name) => new History(name, CAPACITY_CPU));
  for (const { provider } of histories) {
    const advertisement = clusterOf(provider, CAPACITY_CPU);
    setting.disk.putAdvertisement({ advertisement, receivedAt: 0, replacedInstances: [] });
  }
  setting.disk.sync()();

  let left = operations;
  const isOver = (): boolean => left-- <= 0;
  const { network, scheduler } = setting;
  setting.broker.launch();
  for (const [each, name] of CLERKS.entries()) {
    const clerk = new Clerk({ name, histories, network, scheduler, isOver, random: random.fork(10 + each) });
    for (let lane = 0; lane < LANES; lane++) clerk.work();
  }
  await setting.runUntil(() => left <= 0);
  setting.heal();
  await setting.pass(REST_MS);
  for (const history of histories) {
    const problem = history.problem();
    setting.findings.expect(problem === undefined, () => problem ?? "");
  }
  return { setting, histories: histories.length };
}
