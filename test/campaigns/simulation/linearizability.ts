import { resourceVector } from "@resource-broker/base";
import {
  DEFAULT_POLICY,
  isFinal,
  isLive,
  type Reply,
  type Reservation,
  type Waiting,
} from "@resource-broker/domain";
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
const PROVIDERS = [
  { provider: "paris", requesters: ["rome", "quito", "lima"] },
  { provider: "tokyo", requesters: ["oslo", "cairo", "hanoi"] },
] as const;
const LANES = 2;
const DAY_MS = 24 * 60 * 60_000;
const REST_MS = 60_000;
const LONGEST_PAUSE_MS = 200;

/**
 * A world with nothing but reserving, waiting, releasing and reading at providers that never change: all that is seen there
 * must be explained by one call after the other. Nothing ends or times out by itself.
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
    policy: { ...DEFAULT_POLICY, stalenessMs: Number.POSITIVE_INFINITY, activationTimeoutMs: DAY_MS },
    maxWaiting: random.pick([1000, 4]) ?? 1000,
    parties: PROVIDERS.flatMap(({ requesters }) => requesters),
    longestJumpMs: 60_000,
    notify: () => undefined,
  });
  const worlds = PROVIDERS.map(({ provider, requesters }) => ({
    history: new History(provider, CAPACITY_CPU),
    requesters,
  }));
  for (const { provider } of PROVIDERS) {
    const advertisement = clusterOf(provider, CAPACITY_CPU);
    environment.disk.putAdvertisement({ advertisement, receivedAt: 0, replacedInstances: [] });
  }
  environment.disk.sync()();

  let left = operations;
  const { network, scheduler } = environment;
  environment.broker.launch();
  const clients = worlds.flatMap(({ history, requesters }) => requesters.map((name) => ({ history, name })));
  for (const [each, { history, name }] of clients.entries()) {
    const own = random.fork(10 + each);
    const ask = (call: HistoryCall): Promise<HistoryAnswer | undefined> =>
      new Promise((resolve) => {
        network.call(name, apiCallFor(name, call), (reply) => resolve(reply && answerIn(call, reply)));
      });
    const client = new HistoryClient({ name, history, random: own, ask });
    const work = (): void => {
      if (left-- <= 0) return;
      void client.act().then(() => scheduler.after(own.below(LONGEST_PAUSE_MS), `${name} goes on`, work));
    };
    for (let lane = 0; lane < LANES; lane++) work();
  }
  await environment.runUntil(() => left <= 0);
  environment.heal();
  await environment.pass(REST_MS);
  for (const { history } of worlds) {
    const problem = history.problem();
    environment.findings.expect(problem === undefined, () => problem ?? "");
  }
  return { setting: environment, histories: worlds.length };
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
      const wait = operation.wait === true ? { wait: { forMs: DAY_MS } } : {};
      return { kind: "reserve", requester, request, key: operation.key, ...wait };
    }
    case "release":
      return { kind: "command", command: { kind: "release", by, id } };
    case "read":
      return { kind: "read", by, id };
    case "read-free":
      return { kind: "read-free", clusterId: provider };
    case "read-queue":
      return { kind: "read-queue", clusterId: requester };
  }
}

function answerIn({ operation }: HistoryCall, answer: ApiReply): HistoryAnswer {
  switch (answer.kind) {
    case "free":
      return { result: { kind: "free", cpu: (answer.cpuMillis ?? 0) / 1000 } };
    case "reservation":
      return stateOf(answer.waiting ?? answer.reservation);
    case "queue":
      return { result: { kind: "queue", keys: answer.waiting.map(({ key }) => key) } };
    case "reply":
      return answerTo(operation, answer.reply);
    default:
      return { result: "nothing happened" };
  }
}

function answerTo({ kind }: HistoryCall["operation"], reply: Reply): HistoryAnswer {
  if (reply.kind === "refused") return { result: { kind: "refused" } };
  if (reply.kind === "waiting") return stateOf(reply.waiting);
  if ("reservation" in reply) return stateOf(reply.reservation);
  if (reply.kind === "rejected" && reply.code === "key-released") return { result: { kind: "closed" } };
  return { result: kind === "release" ? { kind: "absent" } : "nothing happened" };
}

function stateOf(found: Reservation | Waiting | undefined): HistoryAnswer {
  if (found === undefined) return { result: { kind: "absent" } };
  const { id, phase } = found;
  if ("provider" in found) return { id, result: { kind: isLive(phase) ? "live" : "ended" } };
  return { id, result: { kind: isFinal(phase) ? "left" : "waiting" } };
}
