import type { FaultCode } from "@resource-broker/contract";
import fc from "fast-check";
import { RESERVATION_INSTRUCTIONS } from "../borrowings/borrowing-deps.ts";
import { PROVIDER_INSTRUCTIONS } from "../holds/hold-controller.ts";
import type { Disturbances, Fate } from "./disturbances.ts";
import { asAdmin } from "./fake-broker.ts";
import { REQUESTS, type SmallCluster, type SmallWorld } from "./small-world.ts";

export interface Stage extends SmallWorld {
  readonly disturb: Disturbances;
}

/** Something that people, machines or networks do. */
export interface Happening {
  readonly happen: (stage: Stage) => unknown;
  readonly [fc.toStringMethod]: () => string;
}

function happening(what: string, happen: Happening["happen"]): Happening {
  return { happen, [fc.toStringMethod]: () => what };
}

type Place = "rome" | "paris" | "berlin";
const place = fc.constantFrom<Place>("rome", "paris", "berlin");
const lender = fc.constantFrom<Place>("paris", "berlin");
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

function ask({ rome }: Stage, request: string, { duration, ...rest }: Spec): void {
  if (rome.request(request) === undefined) {
    rome.ask(request, { ...rest, ...(duration === undefined ? {} : { duration }) });
  }
}

function edit({ rome }: Stage, request: string): void {
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
function takeAway(cluster: SmallCluster, index: number): void {
  for (const resource of [RESERVATION_INSTRUCTIONS, PROVIDER_INSTRUCTIONS]) {
    const found = cluster.objects.all(resource.plural)[index];
    if (found !== undefined) cluster.remove(resource, found.metadata);
  }
}

function occupy(cluster: SmallCluster): void {
  if (cluster.objects.find("pods", { name: "crowd", namespace: "default" }) === undefined) {
    cluster.occupy("crowd", "8");
  }
}

function vacate(cluster: SmallCluster): void {
  if (cluster.objects.find("pods", { name: "crowd", namespace: "default" }) !== undefined) {
    cluster.vacate("crowd");
  }
}

function restart(cluster: SmallCluster): void {
  cluster.kill();
  // Whether and when it gets to work is seen by what it does.
  void cluster.start().catch(() => undefined);
}

const people: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 9,
    arbitrary: fc
      .tuple(name, spec)
      .map(([request, wish]) =>
        happening(`ask ${request} ${JSON.stringify(wish)}`, (stage) => ask(stage, request, wish)),
      ),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(name, spec, lender).map(([request, wish, at]) =>
      happening(`${at} fills up while ${request} ${JSON.stringify(wish)} is asked for`, (stage) => {
        occupy(stage[at]);
        ask(stage, request, wish);
      }),
    ),
  },
  {
    weight: 4,
    arbitrary: name.map((request) =>
      happening(`unask ${request}`, ({ rome }) => {
        if (rome.request(request) !== undefined) rome.unask(request);
      }),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(name, spec).map(([request, wish]) =>
      happening(`recreate ${request} ${JSON.stringify(wish)}`, (stage) => {
        if (stage.rome.request(request) !== undefined) stage.rome.unask(request);
        ask(stage, request, wish);
      }),
    ),
  },
  {
    weight: 2,
    arbitrary: name.map((request) => happening(`edit ${request}`, (stage) => edit(stage, request))),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(place, which)
      .map(([at, index]) => happening(`take away ${index} at ${at}`, (stage) => takeAway(stage[at], index))),
  },
  {
    weight: 1,
    arbitrary: which.map((index) =>
      happening(`an admin releases ${index}`, ({ broker }) => {
        const id = broker.live()[index]?.id;
        if (id !== undefined) broker.run({ kind: "release", ...asAdmin, id });
      }),
    ),
  },
  {
    weight: 1,
    arbitrary: which.map((index) =>
      happening(`an admin renews ${index}`, ({ broker }) => {
        const id = broker.live()[index]?.id;
        if (id !== undefined) broker.run({ kind: "renew", ...asAdmin, id, durationMs: 300_000 });
      }),
    ),
  },
);

const machines: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 4,
    arbitrary: brokerSeries.map((each) =>
      happening(`broker fails ${JSON.stringify(each)}`, ({ disturb }) => disturb.brokerFails(each)),
    ),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(place, clusterSeries)
      .map(([at, each]) =>
        happening(`${at} fails ${JSON.stringify(each)}`, (stage) =>
          stage.disturb.clusterFails(stage[at], each),
        ),
      ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.integer({ min: 1, max: 40_000 }), fc.boolean())
      .map(([ms, isDone]) =>
        happening(`slow broker ${ms} ${isDone}`, ({ disturb }) => disturb.slowBroker(ms, isDone)),
      ),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom<Fate>("lost", "twice", "swapped", "well")
      .map((fate) => happening(`stream events fare ${fate}`, ({ disturb }) => disturb.streamEvents(fate))),
  },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom("down", "up", "up", "cutStreams")
      .map((what) => happening(`broker ${what}`, ({ broker }) => broker[what]())),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(place, fc.constantFrom("down", "up", "up", "cutWatches"))
      .map(([at, what]) => happening(`${at} ${what}`, (stage) => stage[at][what]())),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(place, fc.constantFrom(0, 10, 2000, 30_000))
      .map(([at, ms]) => happening(`watches of ${at} lag ${ms}`, (stage) => stage[at].setWatchLag(ms))),
  },
  {
    weight: 3,
    arbitrary: place.map((at) => happening(`kill ${at}`, (stage) => stage[at].kill())),
  },
  {
    weight: 3,
    arbitrary: place.map((at) => happening(`restart ${at}`, (stage) => restart(stage[at]))),
  },
  {
    weight: 2,
    arbitrary: place.map((at) => happening(`occupy ${at}`, (stage) => occupy(stage[at]))),
  },
  { weight: 1, arbitrary: place.map((at) => happening(`vacate ${at}`, (stage) => vacate(stage[at]))) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(place, fc.constantFrom(-3_600_000, 0, 3_600_000))
      .map(([at, ms]) => happening(`clock of ${at} is off ${ms}`, (stage) => stage[at].setClockError(ms))),
  },
);

const pass: fc.Arbitrary<Happening> = fc
  .constantFrom(1, 20, 300, 3000, 20_000, 90_000)
  .map((ms) => happening(`${ms} ms pass`, ({ time }) => time.advance(ms)));

const forget: fc.Arbitrary<Happening> = fc.constant(
  happening("the broker forgets everything", ({ broker }) => broker.forget()),
);

export interface WildDayOptions {
  readonly isForgetful: boolean;
}

/** A day on which anything may happen, in any order. */
export function wildDay({ isForgetful }: WildDayOptions): fc.Arbitrary<readonly Happening[]> {
  const each = fc.oneof(
    { weight: 10, arbitrary: people },
    { weight: 14, arbitrary: machines },
    { weight: 8, arbitrary: pass },
    { weight: isForgetful ? 2 : 0, arbitrary: forget },
  );
  return fc.array(each, { minLength: 2, maxLength: 40, size: "max" });
}

/** Everything works again, everybody is back, and enough time passes for the last of them to notice. */
export async function calmDown(stage: Stage, forMs: number): Promise<void> {
  stage.disturb.end();
  for (const cluster of [stage.rome, stage.paris, stage.berlin]) {
    if (!cluster.isRunning()) restart(cluster);
  }
  await stage.time.advance(forMs);
}
