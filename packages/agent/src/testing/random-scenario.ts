import type { FaultCode } from "@resource-broker/base";
import { present } from "@resource-broker/contract";
import fc from "fast-check";
import { PROVIDER_INSTRUCTIONS, RESERVATION_INSTRUCTIONS } from "../manifests/labels.ts";
import { asAdmin } from "./fake-broker.ts";
import type { FaultInjector, StreamFault } from "./fault-injector.ts";
import { REQUESTS, type TestCluster, type TestFleet } from "./test-fleet.ts";

export interface Environment extends TestFleet {
  readonly faults: FaultInjector;
}

/** Something that people, machines or networks do. */
export interface ScenarioStep {
  readonly run: (environment: Environment) => unknown;
  readonly [fc.toStringMethod]: () => string;
}

function scenarioStep(what: string, run: ScenarioStep["run"]): ScenarioStep {
  return { run, [fc.toStringMethod]: () => what };
}

type Place = "rome" | "paris" | "berlin";
const place = fc.constantFrom<Place>("rome", "paris", "berlin");
const provider = fc.constantFrom<Place>("paris", "berlin");
const name = fc.constantFrom("a", "b", "c", "d");
const which = fc.nat(5);
const series = {
  isDone: fc.boolean(),
  times: fc.integer({ min: 1, max: 4 }),
  skip: fc.integer({ min: 0, max: 6 }),
};
const brokerSeries = fc.record({
  ...series,
  code: fc.constantFrom<FaultCode>(
    "unreachable",
    "unreachable",
    "unreachable",
    "overloaded",
    "rate-limited",
    "internal",
    "store-unavailable",
  ),
});
const clusterSeries = fc.record({
  ...series,
  code: fc.constantFrom<FaultCode>("unreachable", "unreachable", "overloaded", "conflict", "forbidden"),
});
const spec = fc.record({
  requestedCPU: fc.constantFrom("1", "4", "10"),
  queue: fc.boolean(),
  queueTimeout: fc.constantFrom(undefined, undefined, undefined, "2m"),
  duration: fc.constantFrom(undefined, undefined, "1m", "4m"),
  tier: fc.constantFrom(undefined, "spot"),
});
type Spec = typeof spec extends fc.Arbitrary<infer T> ? T : never;

function ask({ rome }: Environment, request: string, spec: Spec): void {
  if (rome.request(request) === undefined) rome.createRequest(request, present(spec));
}

function unask({ rome }: Environment, request: string): void {
  if (rome.request(request) !== undefined) rome.deleteRequest(request);
}

function edit({ rome }: Environment, request: string): void {
  try {
    rome.edit(REQUESTS, { name: request, namespace: "default" }, (before) => ({
      ...before,
      spec: { ...before.spec, requestedCPU: before.spec.requestedCPU === "2" ? "3" : "2" },
    }));
  } catch {
    // Gone, or reserved already: the API server says no.
  }
}

function editQueue({ rome }: Environment, request: string): void {
  try {
    rome.edit(REQUESTS, { name: request, namespace: "default" }, (before) => ({
      ...before,
      spec: { ...before.spec, queue: before.spec.queue !== true },
    }));
  } catch {
    // Gone, or reserved already: the API server says no.
  }
}

/** By hand, and behind the agent's back. */
function deleteInstruction(cluster: TestCluster, index: number): void {
  for (const resource of [RESERVATION_INSTRUCTIONS, PROVIDER_INSTRUCTIONS]) {
    const found = cluster.objects.all(resource.plural)[index];
    if (found !== undefined) cluster.remove(resource, found.metadata);
  }
}

function occupy(cluster: TestCluster): void {
  if (cluster.objects.find("pods", { name: "crowd", namespace: "default" }) === undefined) {
    cluster.occupy("crowd", "8");
  }
}

function vacate(cluster: TestCluster): void {
  if (cluster.objects.find("pods", { name: "crowd", namespace: "default" }) !== undefined) {
    cluster.vacate("crowd");
  }
}

function restart(cluster: TestCluster): void {
  cluster.kill();
  // Whether and when it gets to work is seen by what it does.
  void cluster.start().catch(() => undefined);
}

/** Spot requests have all that is lent, and one that is not spot waits for a part of it: somebody gets notice. */
async function preempt(environment: Environment, lastMs: number): Promise<void> {
  const { time } = environment;
  for (const each of ["a", "b", "c", "d"]) unask(environment, each);
  await time.advance(3000);
  const most = { requestedCPU: "10" as const, queue: true, queueTimeout: undefined, duration: undefined };
  for (const each of ["a", "b"]) ask(environment, each, { ...most, tier: "spot" });
  await time.advance(3000);
  ask(environment, "c", { ...most, tier: undefined });
  await time.advance(lastMs);
}

/** One kind of step: how often it comes, what it depends on, and what it does. */
function step<T>(
  weight: number,
  given: fc.Arbitrary<T>,
  [what, run]: readonly [(value: T) => string, (environment: Environment, value: T) => unknown],
): fc.WeightedArbitrary<ScenarioStep> {
  const arbitrary = given.map((value) => scenarioStep(what(value), (environment) => run(environment, value)));
  return { weight, arbitrary };
}

const userSteps: fc.Arbitrary<ScenarioStep> = fc.oneof(
  step(9, fc.tuple(name, spec), [
    ([request, asked]) => `ask ${request} ${JSON.stringify(asked)}`,
    (environment, [request, asked]) => ask(environment, request, asked),
  ]),
  step(3, fc.tuple(name, spec, provider), [
    ([request, asked, at]) => `${at} fills up while ${request} ${JSON.stringify(asked)} is asked for`,
    (environment, [request, asked, at]) => {
      occupy(environment[at]);
      ask(environment, request, asked);
    },
  ]),
  step(4, name, [(request) => `unask ${request}`, unask]),
  step(2, fc.tuple(name, spec), [
    ([request, asked]) => `recreate ${request} ${JSON.stringify(asked)}`,
    (environment, [request, asked]) => {
      unask(environment, request);
      ask(environment, request, asked);
    },
  ]),
  step(2, name, [(request) => `edit ${request}`, edit]),
  step(3, fc.constantFrom(10, 31_000, 70_000, 90_000), [
    (lastMs) => `spot requests fill all, and one waits for ${lastMs} ms that is not`,
    preempt,
  ]),
  step(1, fc.tuple(place, which), [
    ([at, index]) => `take away ${index} at ${at}`,
    (environment, [at, index]) => deleteInstruction(environment[at], index),
  ]),
  step(1, which, [
    (index) => `an admin releases ${index}`,
    ({ broker }, index) => {
      const id = broker.live()[index]?.id;
      if (id !== undefined) broker.run({ kind: "release", ...asAdmin, id });
    },
  ]),
  step(1, which, [
    (index) => `an admin takes ${index} out of the queue`,
    ({ broker }, index) => {
      const id = broker.pending()[index]?.id;
      if (id !== undefined) broker.run({ kind: "release", ...asAdmin, id });
    },
  ]),
  step(1, name, [(request) => `${request} shall wait, or not any more`, editQueue]),
  step(1, which, [
    (index) => `an admin renews ${index}`,
    ({ broker }, index) => {
      const id = broker.live()[index]?.id;
      if (id !== undefined) broker.run({ kind: "renew", ...asAdmin, id, durationMs: 300_000 });
    },
  ]),
);

const faultSteps: fc.Arbitrary<ScenarioStep> = fc.oneof(
  step(4, brokerSeries, [
    (each) => `broker fails ${JSON.stringify(each)}`,
    ({ faults }, each) => faults.brokerFails(each),
  ]),
  step(4, fc.tuple(place, clusterSeries), [
    ([at, each]) => `${at} fails ${JSON.stringify(each)}`,
    (environment, [at, each]) => environment.faults.clusterFails(environment[at], each),
  ]),
  step(2, fc.tuple(fc.integer({ min: 1, max: 40_000 }), fc.boolean()), [
    ([ms, isDone]) => `slow broker ${ms} ${isDone}`,
    ({ faults }, [ms, isDone]) => faults.slowBroker(ms, isDone),
  ]),
  step(2, fc.constantFrom<StreamFault>("lost", "twice", "swapped", "well"), [
    (fault) => `stream events fare ${fault}`,
    ({ faults }, fault) => faults.streamEvents(fault),
  ]),
  step(3, fc.constantFrom("down", "up", "up", "cutStreams"), [
    (what) => `broker ${what}`,
    ({ broker }, what) => broker[what](),
  ]),
  step(3, fc.tuple(place, fc.constantFrom("down", "up", "up", "cutWatches")), [
    ([at, what]) => `${at} ${what}`,
    (environment, [at, what]) => environment[at][what](),
  ]),
  step(2, fc.tuple(place, fc.constantFrom(0, 10, 2000, 30_000)), [
    ([at, ms]) => `watches of ${at} lag ${ms}`,
    (environment, [at, ms]) => environment[at].setWatchLag(ms),
  ]),
  step(3, place, [(at) => `kill ${at}`, (environment, at) => environment[at].kill()]),
  step(3, place, [(at) => `restart ${at}`, (environment, at) => restart(environment[at])]),
  step(2, place, [(at) => `occupy ${at}`, (environment, at) => occupy(environment[at])]),
  step(1, place, [(at) => `vacate ${at}`, (environment, at) => vacate(environment[at])]),
  step(1, fc.tuple(place, fc.constantFrom(-3_600_000, 0, 3_600_000)), [
    ([at, ms]) => `clock of ${at} is off ${ms}`,
    (environment, [at, ms]) => environment[at].setClockError(ms),
  ]),
);

const pass: fc.Arbitrary<ScenarioStep> = fc
  .constantFrom(1, 20, 300, 3000, 20_000, 90_000)
  .map((ms) => scenarioStep(`${ms} ms pass`, ({ time }) => time.advance(ms)));

const forget: fc.Arbitrary<ScenarioStep> = fc.constant(
  scenarioStep("the broker forgets everything", ({ broker }) => broker.forget()),
);

/** An older broker cannot read a ledger with waiting requests. */
const replace: fc.Arbitrary<ScenarioStep> = fc.boolean().map((canQueue) =>
  scenarioStep(`a broker ${canQueue ? "with" : "without"} a queue takes its place`, ({ broker }) => {
    broker.forget();
    broker.setQueue(canQueue);
  }),
);

export interface RandomScenarioOptions {
  readonly isForgetful: boolean;
}

/** A day on which anything may happen, in any order. */
export function randomScenario({
  isForgetful,
}: RandomScenarioOptions): fc.Arbitrary<readonly ScenarioStep[]> {
  const each = fc.oneof(
    { weight: 10, arbitrary: userSteps },
    { weight: 14, arbitrary: faultSteps },
    { weight: 8, arbitrary: pass },
    { weight: isForgetful ? 2 : 0, arbitrary: forget },
    { weight: isForgetful ? 1 : 0, arbitrary: replace },
  );
  return fc.array(each, { minLength: 2, maxLength: 40, size: "max" });
}

/** Everything works again, everybody is back, and enough time passes for the last of them to notice. */
export async function recover(environment: Environment, forMs: number): Promise<void> {
  environment.faults.end();
  for (const cluster of [environment.rome, environment.paris, environment.berlin]) {
    if (!cluster.isRunning()) restart(cluster);
  }
  await environment.time.advance(forMs);
}
