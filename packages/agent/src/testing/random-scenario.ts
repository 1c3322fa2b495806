import type { FaultCode } from "@resource-broker/base";
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
  duration: fc.constantFrom(undefined, undefined, "1m", "4m"),
});
type Spec = typeof spec extends fc.Arbitrary<infer T> ? T : never;

function ask({ rome }: Environment, request: string, { duration, ...rest }: Spec): void {
  if (rome.request(request) === undefined) {
    rome.createRequest(request, { ...rest, ...(duration === undefined ? {} : { duration }) });
  }
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

const userSteps: fc.Arbitrary<ScenarioStep> = fc.oneof(
  {
    weight: 9,
    arbitrary: fc
      .tuple(name, spec)
      .map(([request, requestSpec]) =>
        scenarioStep(`ask ${request} ${JSON.stringify(requestSpec)}`, (environment) =>
          ask(environment, request, requestSpec),
        ),
      ),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(name, spec, provider).map(([request, requestSpec, at]) =>
      scenarioStep(
        `${at} fills up while ${request} ${JSON.stringify(requestSpec)} is asked for`,
        (environment) => {
          occupy(environment[at]);
          ask(environment, request, requestSpec);
        },
      ),
    ),
  },
  {
    weight: 4,
    arbitrary: name.map((request) =>
      scenarioStep(`unask ${request}`, ({ rome }) => {
        if (rome.request(request) !== undefined) rome.deleteRequest(request);
      }),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(name, spec).map(([request, requestSpec]) =>
      scenarioStep(`recreate ${request} ${JSON.stringify(requestSpec)}`, (environment) => {
        if (environment.rome.request(request) !== undefined) environment.rome.deleteRequest(request);
        ask(environment, request, requestSpec);
      }),
    ),
  },
  {
    weight: 2,
    arbitrary: name.map((request) =>
      scenarioStep(`edit ${request}`, (environment) => edit(environment, request)),
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(place, which)
      .map(([at, index]) =>
        scenarioStep(`take away ${index} at ${at}`, (environment) =>
          deleteInstruction(environment[at], index),
        ),
      ),
  },
  {
    weight: 1,
    arbitrary: which.map((index) =>
      scenarioStep(`an admin releases ${index}`, ({ broker }) => {
        const id = broker.live()[index]?.id;
        if (id !== undefined) broker.run({ kind: "release", ...asAdmin, id });
      }),
    ),
  },
  {
    weight: 1,
    arbitrary: which.map((index) =>
      scenarioStep(`an admin renews ${index}`, ({ broker }) => {
        const id = broker.live()[index]?.id;
        if (id !== undefined) broker.run({ kind: "renew", ...asAdmin, id, durationMs: 300_000 });
      }),
    ),
  },
);

const faultSteps: fc.Arbitrary<ScenarioStep> = fc.oneof(
  {
    weight: 4,
    arbitrary: brokerSeries.map((each) =>
      scenarioStep(`broker fails ${JSON.stringify(each)}`, ({ faults }) => faults.brokerFails(each)),
    ),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(place, clusterSeries)
      .map(([at, each]) =>
        scenarioStep(`${at} fails ${JSON.stringify(each)}`, (environment) =>
          environment.faults.clusterFails(environment[at], each),
        ),
      ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.integer({ min: 1, max: 40_000 }), fc.boolean())
      .map(([ms, isDone]) =>
        scenarioStep(`slow broker ${ms} ${isDone}`, ({ faults }) => faults.slowBroker(ms, isDone)),
      ),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom<StreamFault>("lost", "twice", "swapped", "well")
      .map((fault) =>
        scenarioStep(`stream events fare ${fault}`, ({ faults }) => faults.streamEvents(fault)),
      ),
  },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom("down", "up", "up", "cutStreams")
      .map((what) => scenarioStep(`broker ${what}`, ({ broker }) => broker[what]())),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(place, fc.constantFrom("down", "up", "up", "cutWatches"))
      .map(([at, what]) => scenarioStep(`${at} ${what}`, (environment) => environment[at][what]())),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(place, fc.constantFrom(0, 10, 2000, 30_000))
      .map(([at, ms]) =>
        scenarioStep(`watches of ${at} lag ${ms}`, (environment) => environment[at].setWatchLag(ms)),
      ),
  },
  {
    weight: 3,
    arbitrary: place.map((at) => scenarioStep(`kill ${at}`, (environment) => environment[at].kill())),
  },
  {
    weight: 3,
    arbitrary: place.map((at) => scenarioStep(`restart ${at}`, (environment) => restart(environment[at]))),
  },
  {
    weight: 2,
    arbitrary: place.map((at) => scenarioStep(`occupy ${at}`, (environment) => occupy(environment[at]))),
  },
  {
    weight: 1,
    arbitrary: place.map((at) => scenarioStep(`vacate ${at}`, (environment) => vacate(environment[at]))),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(place, fc.constantFrom(-3_600_000, 0, 3_600_000))
      .map(([at, ms]) =>
        scenarioStep(`clock of ${at} is off ${ms}`, (environment) => environment[at].setClockError(ms)),
      ),
  },
);

const pass: fc.Arbitrary<ScenarioStep> = fc
  .constantFrom(1, 20, 300, 3000, 20_000, 90_000)
  .map((ms) => scenarioStep(`${ms} ms pass`, ({ time }) => time.advance(ms)));

const forget: fc.Arbitrary<ScenarioStep> = fc.constant(
  scenarioStep("the broker forgets everything", ({ broker }) => broker.forget()),
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
