import { resourceVector } from "@resource-broker/base";
import { DEFAULT_POLICY, isLive, type Reservation } from "@resource-broker/domain";
import {
  clusterOf,
  History,
  type HistoryAnswer,
  type HistoryCall,
  HistoryClient,
  type SeededRandom,
} from "@resource-broker/testkit";
import { Environment } from "./environment/environment.ts";
import { drawRates } from "./environment/faults.ts";
import type { ApiCall, ApiReply } from "./environment/network.ts";

const CAPACITY_CPU = 8;
const REQUESTERS = ["rome", "quito", "lima"] as const;
const LANES = 2;
const REST_MS = 60_000;
const LONGEST_PAUSE_MS = 200;

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
  const histories = [new History("paris", CAPACITY_CPU), new History("tokyo", CAPACITY_CPU)] as const;
  for (const { provider } of histories) {
    const advertisement = clusterOf(provider, CAPACITY_CPU);
    environment.disk.putAdvertisement({ advertisement, receivedAt: 0, replacedInstances: [] });
  }
  environment.disk.sync()();

  let left = operations;
  const { network, scheduler } = environment;
  environment.broker.launch();
  for (const [each, name] of REQUESTERS.entries()) {
    const own = random.fork(10 + each);
    const ask = (call: HistoryCall): Promise<HistoryAnswer | undefined> =>
      new Promise((resolve) => {
        network.call(name, apiCallFor(name, call), (reply) => resolve(reply && answerIn(call, reply)));
      });
    const client = new HistoryClient({ name, histories, random: own, ask });
    const work = (): void => {
      if (left-- <= 0) return;
      void client.act().then(() => scheduler.after(own.below(LONGEST_PAUSE_MS), `${name} goes on`, work));
    };
    for (let lane = 0; lane < LANES; lane++) work();
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

function apiCallFor(requester: string, { provider, operation, id }: HistoryCall): ApiCall {
  const by = { clusterId: requester, isAdmin: false };
  switch (operation.kind) {
    case "reserve": {
      const resources = resourceVector({ cpuMillis: operation.cpu * 1000, memoryBytes: 1 });
      const request = {
        resources,
        priority: 0,
        constraints: {},
        tier: "on-demand",
        target: provider,
      } as const;
      return { kind: "reserve", requester, request, key: operation.key };
    }
    case "release":
      return { kind: "command", command: { kind: "release", by, id } };
    case "read":
      return { kind: "read", by, id };
    case "read-free":
      return { kind: "read-free", clusterId: provider };
  }
}

function answerIn({ operation }: HistoryCall, answer: ApiReply): HistoryAnswer {
  switch (answer.kind) {
    case "free":
      return { result: { kind: "free", cpu: (answer.cpuMillis ?? 0) / 1000 } };
    case "reservation":
      return stateOf(answer.reservation);
    case "reply":
      if (answer.reply.kind === "refused") return { result: { kind: "refused" } };
      if ("reservation" in answer.reply) return stateOf(answer.reply.reservation);
      return { result: operation.kind === "release" ? { kind: "absent" } : "nothing happened" };
    default:
      return { result: "nothing happened" };
  }
}

function stateOf(reservation: Reservation | undefined): HistoryAnswer {
  if (reservation === undefined) return { result: { kind: "absent" } };
  return { id: reservation.id, result: { kind: isLive(reservation.phase) ? "live" : "ended" } };
}
