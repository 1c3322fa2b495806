import type { Drain, Reservation, SetCordon } from "@resource-broker/domain";
import type { SeededRandom } from "@resource-broker/testkit";
import { Membership } from "./actors/membership.ts";
import { Provider } from "./actors/provider.ts";
import { Requester } from "./actors/requester.ts";
import { Environment } from "./environment/environment.ts";
import { randomScenario } from "./environment/random-scenario.ts";

/** How long a healed world is given to come to rest, and then to serve one more request of everybody. */
const REST_MS = 75_000;
const SERVE_MS = 45_000;
const DRAIN_GRACE_MS = 3000;

/** A random scenario: clusters provide and request capacity while faults are injected. */
export async function runScenario(random: SeededRandom, operations: number): Promise<Environment> {
  const scenario = randomScenario(random.fork(1));
  const names = scenario.clusters.map(({ name }) => name);
  const environment = new Environment({
    ...scenario,
    random: random.fork(2),
    parties: names,
    longestJumpMs: Number.POSITIVE_INFINITY,
    notify: (reservation) => notify(reservation),
  });
  const { network, scheduler, findings, broker } = environment;
  const providers = scenario.clusters.map(
    ({ name, habits }, each) =>
      new Provider({ name, behaviour: habits, network, scheduler, random: random.fork(10 + each) }),
  );
  const requesters = names.map(
    (name, each) =>
      new Requester({
        name,
        others: names,
        network,
        scheduler,
        findings,
        random: random.fork(30 + each),
        ...(scenario.hasQueue ? { waiting: random.fork(70 + each) } : {}),
        wasEvicted: () => environment.checker.evicted.has(name),
      }),
  );
  const notify = (reservation: Reservation): void => {
    const provider = providers.find(({ name }) => name === reservation.provider);
    const requester = requesters.find(({ name }) => name === reservation.requester);
    if (provider !== undefined) network.push(provider.name, () => provider.observe(reservation));
    if (requester !== undefined) network.push(requester.name, () => requester.observe(reservation));
  };

  const chance = environment.random;
  // In the other half of the worlds nobody has heard of members, as before there were any.
  const membership = scenario.hasMembers
    ? new Membership({ names, network, random: random.fork(50) })
    : undefined;
  const operate = (): void => {
    const roll = chance.below(100);
    if (roll % 2 === 0) membership?.act();
    if (roll < 90) chance.pick(requesters)?.act();
    else if (roll < 93) chance.pick(providers)?.restart();
    else if (roll < 96) chance.pick(providers)?.resize();
    else administer(environment, names);
  };
  let left = operations;
  const operateAgain = (): void => {
    if (left === 0) return;
    left--;
    operate();
    scheduler.after((chance.below(1000) / 1000) * scenario.maxIntervalMs, "the next operation", operateAgain);
  };

  broker.launch();
  for (const provider of providers) provider.start();
  operateAgain();
  await environment.runUntil(() => left === 0);
  environment.heal();
  await environment.pass(REST_MS);
  for (const requester of requesters) requester.requestMinimum();
  await environment.pass(SERVE_MS);
  const open = requesters.reduce((sum, requester) => sum + requester.open, 0);
  findings.expect(open === 0, () => `${open} calls are never answered`);
  const state = broker.engine?.health.state;
  findings.expect(state === "ready", () => `the broker does not recover: it is ${state}`);
  for (const provider of providers) compareReservations(environment, provider);
  return environment;
}

/** So long after an end its provider has been told. */
const TOLD_MS = 10_000;

/** What the ledger lends must be held; what it knows to have ended must not. A hold it has forgotten stays. */
function compareReservations({ broker, findings }: Environment, { name, held }: Provider): void {
  const ledger = broker.engine?.ledger;
  const lending = [...(ledger?.accounts.get(name)?.asProvider.keys() ?? [])];
  const now = broker.engine?.now() ?? 0;
  const isKnown = (id: string): boolean => {
    const { provider, endedAt = now } = ledger?.reservations.get(id) ?? {};
    return provider === name && now - endedAt >= TOLD_MS;
  };
  const missing = lending.filter((id) => !held.includes(id));
  const tooLong = held.filter((id) => !lending.includes(id) && isKnown(id));
  findings.expect(missing.length === 0, () => `${name} does not hold ${missing.join(", ")}`);
  findings.expect(tooLong.length === 0, () => `${name} still holds ${tooLong.join(", ")}`);
}

function cordonFor(random: SeededRandom, about: Pick<Drain, "by" | "clusterId">): SetCordon | Drain {
  const kind = random.pick(["cordon", "drain", "uncordon", "uncordon", "uncordon"] as const) ?? "uncordon";
  return kind === "drain" ? { kind, ...about, graceMs: DRAIN_GRACE_MS } : { kind, ...about };
}

function administer({ random, network, checker }: Environment, names: readonly string[]): void {
  const by = { clusterId: "ops", isAdmin: true };
  const clusterId = random.pick(names) ?? "";
  const id = random.pick([...checker.model.entries.keys(), ...checker.model.queue.waiting.keys()]);
  const command =
    id !== undefined && random.chance(0.4)
      ? ({ kind: "release", by, id } as const)
      : cordonFor(random, { by, clusterId });
  network.call("ops", { kind: "command", command }, () => undefined);
}
