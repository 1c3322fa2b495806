import { DEFAULT_POLICY } from "@resource-broker/domain";
import { clusterOf, History, type SeededRandom } from "@resource-broker/testkit";
import { RecordingRequester } from "./actors/recording-requester.ts";
import { Environment } from "./environment/environment.ts";
import { drawRates } from "./environment/faults.ts";

const CAPACITY_CPU = 8;
const REQUESTERS = ["rome", "quito", "lima"] as const;
const LANES = 2;
const REST_MS = 60_000;

/**
 * A world with nothing but reserving, releasing and reading at providers that never change: all that is seen there must
 * be explained by one call after the other.
 */
export async function runLinearizability(
  random: SeededRandom,
  operations: number,
): Promise<{ readonly setting: Environment; readonly histories: number }> {
  const rates = drawRates(random.fork(1));
  // A copy that the network makes is a call that nobody wrote down; and what ended a day ago may be forgotten.
  rates.duplicate = 0;
  rates.leap = 0;
  const environment = new Environment({
    random: random.fork(2),
    rates,
    policy: { ...DEFAULT_POLICY, stalenessMs: Number.POSITIVE_INFINITY },
    maxWaiting: random.pick([1000, 4]) ?? 1000,
    parties: REQUESTERS,
    longestJumpMs: 60_000,
    notify: () => undefined,
  });
  const histories = ["paris", "tokyo"].map((name) => new History(name, CAPACITY_CPU));
  for (const { provider } of histories) {
    const advertisement = clusterOf(provider, CAPACITY_CPU);
    environment.disk.putAdvertisement({ advertisement, receivedAt: 0, replacedInstances: [] });
  }
  environment.disk.sync()();

  let left = operations;
  const isOver = (): boolean => left-- <= 0;
  const { network, scheduler } = environment;
  environment.broker.launch();
  for (const [each, name] of REQUESTERS.entries()) {
    const requester = new RecordingRequester({
      name,
      histories,
      network,
      scheduler,
      isOver,
      random: random.fork(10 + each),
    });
    for (let lane = 0; lane < LANES; lane++) requester.work();
  }
  await environment.runUntil(() => left <= 0);
  environment.heal();
  await environment.pass(REST_MS);
  for (const history of histories) {
    const problem = history.problem();
    environment.findings.expect(problem === undefined, () => problem ?? "");
  }
  return { setting: environment, histories: histories.length };
}
