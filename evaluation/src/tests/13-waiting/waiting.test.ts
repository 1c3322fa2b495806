import { DEFAULT_POLICY } from "@resource-broker/domain";
import { FleetSimulation, type Job, makeJobTrace, seededRandom } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import { FirstCome } from "./first-come.ts";
import { jainIndex, measuresOf, overlentIn } from "./measures.ts";
import { replay, WAYS } from "./replay.ts";
import { Retrying } from "./retrying.ts";

const HOUR_MS = 3_600_000;
const CLUSTERS = [
  { clusterId: "rome", cpus: 4, memoryGi: 16 },
  { clusterId: "paris", cpus: 10, memoryGi: 40 },
];

function job(id: string, more: Partial<Job> = {}): Job {
  return {
    id,
    atMs: 0,
    requester: "rome",
    tenant: "a",
    priority: 0,
    cpus: 5,
    memoryGi: 1,
    durationMs: HOUR_MS,
    isOpenEnded: false,
    teardownMs: 0,
    ...more,
  };
}

test.each([
  { values: [1, 1, 1, 1], index: 1 },
  { values: [1, 0, 0, 0], index: 0.25 },
  { values: [1, 2, 3], index: 36 / 42 },
  { values: [7], index: 1 },
  { values: [], index: 1 },
])("Jain's index of $values is $index", ({ values, index }) => {
  expect(jainIndex(values)).toBeCloseTo(index, 10);
});

/** The jobs in the order in which they start, with when. */
function startsOf(jobs: readonly Job[], wait: (fleet: FleetSimulation) => { arrive: (job: Job) => void }) {
  const fleet = new FleetSimulation({
    clusters: CLUSTERS,
    policy: DEFAULT_POLICY,
    jobs: new Map(jobs.map((each) => [each.id, each])),
  });
  const starts: [string, number][] = [];
  fleet.onGranted = ({ id }) => starts.push([id, fleet.elapsedMs]);
  const way = wait(fleet);
  for (const each of jobs) fleet.after(each.atMs, () => way.arrive(each));
  fleet.run(() => fleet.elapsedMs > 6 * HOUR_MS);
  return starts;
}

const HOLDER = job("holder", { cpus: 6 });
const LARGE = job("large", { cpus: 10, atMs: 1000 });
const SMALL = job("small", { cpus: 1, atMs: 2000 });

test("strictly in turn, the first keeps everybody waiting", () => {
  expect(startsOf([HOLDER, LARGE, SMALL], (fleet) => new FirstCome(fleet, 24 * HOUR_MS))).toEqual([
    ["holder", 0],
    ["large", HOUR_MS],
    ["small", 2 * HOUR_MS],
  ]);
});

test("who has waited long enough leaves the line, and the next comes", () => {
  const starts = startsOf([HOLDER, LARGE, SMALL], (fleet) => new FirstCome(fleet, 1_800_000));
  expect(starts.map(([id]) => id)).toEqual(["holder"]);
});

test("who asks again gets what is there when it asks, and each refusal is counted", () => {
  const retrying: Retrying[] = [];
  const starts = startsOf([HOLDER, LARGE, SMALL], (fleet) => {
    retrying.push(new Retrying(fleet, { random: seededRandom(1), givesUpAfterMs: 24 * HOUR_MS }));
    return { arrive: (each) => retrying[0]?.arrive(each) };
  });
  expect(starts.slice(0, 2)).toEqual([
    ["holder", 0],
    ["small", 2000],
  ]);
  const [, , [id, startedAtMs] = ["", 0]] = starts;
  expect([id, startedAtMs > HOUR_MS, startedAtMs < HOUR_MS + 40_000]).toEqual(["large", true, true]);
  expect(retrying[0]?.waiting).toBe(0);
  expect(retrying[0]?.calls).toBe((retrying[0]?.recordedRefusals ?? 0) + 3);
  expect(retrying[0]?.recordedRefusals).toBeGreaterThan(100);
});

const TRACE = { jobs: [HOLDER, LARGE, SMALL], lastsMs: 2 * HOUR_MS };
const TENANTS = [
  { name: "a", weight: 2, demand: 1 },
  { name: "b", weight: 1, demand: 1 },
];

test("waits, utilisation and shares are counted from the starts", () => {
  const outcomes = [{ startedAtMs: 0, provider: "paris" }, {}, { startedAtMs: 1_802_000, provider: "paris" }];
  const measures = measuresOf({
    trace: TRACE,
    clusters: CLUSTERS,
    tenants: TENANTS,
    outcomes,
    waitsForMs: 2 * HOUR_MS,
  });
  expect(measures.utilisation).toBeCloseTo((100 * 7) / 28, 5);
  expect(measures.utilisationOverTime[0]?.percent).toBeCloseTo((100 * 6) / 14, 5);
  expect(measures.waited).toMatchObject({ count: 3, least: 0, median: 30, most: 120 });
  expect(measures.neverServed).toBe(1);
  const [a, b] = measures.tenants;
  expect(a?.slowdown).toBeCloseTo((1 + 3 + 1.5) / 3, 2);
  expect(b).toMatchObject({ jobs: 0, slowdown: 1 });
  expect(b).not.toHaveProperty("heldPerWeight");
  expect([measures.fairSlowdown, measures.fairShare]).toEqual([1, 1]);
});

test("a provider that lends more than it has is found, also while it tears down", () => {
  const starts = (first: number) => [
    { startedAtMs: 0, provider: "paris" },
    { startedAtMs: first, provider: "paris" },
  ];
  const found = (first: number, teardownMs = 0) =>
    overlentIn({
      trace: { jobs: [{ ...HOLDER, teardownMs }, LARGE], lastsMs: HOUR_MS },
      clusters: CLUSTERS,
      outcomes: starts(first),
    });
  expect(found(HOUR_MS)).toEqual([]);
  expect(found(HOUR_MS - 1)).toEqual(["paris lent 16 CPU and 2 GiB of 10 and 40"]);
  expect(found(HOUR_MS, 1)).toHaveLength(1);
});

test.each(WAYS)("a trace is the same twice with %s, and nothing is lent twice", (way) => {
  const clusters = Array.from({ length: 6 }, (_, at) => ({ clusterId: `c${at}`, cpus: 8, memoryGi: 32 }));
  const trace = makeJobTrace({ random: seededRandom(5), count: 40, clusters, tenants: TENANTS, load: 1.2 });
  const play = () =>
    replay(way, { trace, clusters, tenants: TENANTS, random: seededRandom(6), clock: () => 0 });
  const played = play();
  expect(played).toEqual(play());
  expect(overlentIn({ trace, clusters, outcomes: played.outcomes })).toEqual([]);
  expect(played.written).toBeGreaterThanOrEqual(40);
});
