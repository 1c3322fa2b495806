import { DEFAULT_POLICY } from "@resource-broker/domain";
import { describe, expect, test } from "vitest";
import { seededRandom } from "../broker/seeded-random.ts";
import { Agenda } from "./agenda.ts";
import { FleetSimulation } from "./fleet-simulation.ts";
import { type FleetCluster, type Job, makeJobTrace } from "./job-trace.ts";
import { LedgerQueue } from "./ledger-queue.ts";
import { StartPromises } from "./start-promises.ts";

const HOUR_MS = 3_600_000;
const CLUSTERS: readonly FleetCluster[] = [
  { clusterId: "rome", cpus: 8, memoryGi: 32 },
  { clusterId: "paris", cpus: 16, memoryGi: 64 },
];
const TENANTS = [
  { name: "a", weight: 1, demand: 3 },
  { name: "b", weight: 1, demand: 1 },
];
const traceOf = (seed: number, count = 2000) =>
  makeJobTrace({
    random: seededRandom(seed),
    count,
    clusters: CLUSTERS,
    tenants: TENANTS,
    load: 0.8,
    openEnded: 0.25,
  });

describe("a trace of jobs", () => {
  const { jobs, lastsMs } = traceOf(1);

  test("is the same for the same seed, and another for another", () => {
    expect(traceOf(1)).toEqual({ jobs, lastsMs });
    expect(traceOf(2).jobs).not.toEqual(jobs);
  });

  test("is sorted by time, and each of its jobs could be served by another cluster", () => {
    expect(jobs).toHaveLength(2000);
    expect(jobs.map(({ atMs }) => atMs)).toEqual(jobs.map(({ atMs }) => atMs).sort((a, b) => a - b));
    for (const { requester, cpus, memoryGi, atMs } of jobs) {
      expect(requester).toBe("rome");
      expect(cpus).toBeLessThanOrEqual(16);
      expect(memoryGi).toBeLessThanOrEqual(64);
      expect(atMs).toBeLessThanOrEqual(lastsMs);
    }
  });

  test("asks for as much as was said", () => {
    const asked = jobs.reduce((sum, { cpus, durationMs }) => sum + cpus * durationMs, 0);
    expect(asked / (24 * lastsMs)).toBeCloseTo(0.8, 3);
    expect(jobs.filter(({ tenant }) => tenant === "a").length / 2000).toBeCloseTo(0.75, 0);
    expect(jobs.filter(({ isOpenEnded }) => isOpenEnded).length / 2000).toBeCloseTo(0.25, 1);
  });

  test("has a heavy tail: the longest tenth of its jobs is most of the work", () => {
    const work = jobs.map(({ durationMs }) => durationMs).sort((a, b) => b - a);
    const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
    expect(sum(work.slice(0, 200)) / sum(work)).toBeGreaterThan(0.4);
  });
});

test("an agenda tells what is earliest, and of one moment what was planned first", () => {
  const random = seededRandom(1);
  const times = Array.from({ length: 300 }, () => random.below(50));
  const agenda = new Agenda();
  const seen: number[] = [];
  for (const [index, at] of times.entries()) agenda.add(at, () => seen.push(index));
  for (let run = agenda.take(49); run !== undefined; run = agenda.take(49)) run();
  const expected = times.map((at, index) => ({ at, index })).sort((a, b) => a.at - b.at || a.index - b.index);
  expect(seen).toEqual(expected.map(({ index }) => index));
  expect(agenda.earliest).toBeUndefined();
});

describe("the promise of a start", () => {
  const promised = (): StartPromises => {
    const promises = new StartPromises();
    promises.isFirst({ id: "big", from: 100 }, 10);
    return promises;
  };

  test("is kept by a start in time", () => {
    const promises = promised();
    promises.started("big", 100);
    expect([promises.made, promises.late, promises.gaveWay]).toEqual([1, [], []]);
  });

  test("is broken by a start a moment too late, though it was planned anew meanwhile", () => {
    const promises = promised();
    promises.isFirst({ id: "big", from: 300 }, 50);
    promises.started("big", 101);
    expect(promises.late).toEqual([{ id: "big", promisedAt: 10, promised: 100, started: 101 }]);
  });

  test("is broken by one that never starts", () => {
    const promises = promised();
    promises.neverStarted("big", 200);
    expect(promises.late).toEqual([{ id: "big", promisedAt: 10, promised: 100 }]);
  });

  test("ends when another becomes first, and is then told apart", () => {
    const promises = promised();
    promises.isFirst({ id: "urgent" }, 20);
    promises.started("urgent", 20);
    promises.isFirst({ id: "big", from: 150 }, 30);
    promises.started("big", 140);
    expect(promises.late).toEqual([]);
    expect(promises.gaveWay).toEqual([{ id: "big", promisedAt: 10, promised: 100, started: 140 }]);
  });

  test("ends when an urgent newcomer is served at once", () => {
    const promises = promised();
    promises.overtaken();
    promises.isFirst({ id: "big", from: 150 }, 30);
    promises.started("big", 151);
    expect(promises.late).toEqual([{ id: "big", promisedAt: 30, promised: 150, started: 151 }]);
  });
});

describe("a fleet in simulated time", () => {
  const job = (id: string, more: Partial<Job> = {}): Job => ({
    id,
    atMs: 0,
    requester: "rome",
    tenant: "a",
    priority: 0,
    cpus: 16,
    memoryGi: 1,
    durationMs: HOUR_MS,
    isOpenEnded: false,
    teardownMs: 120_000,
    ...more,
  });

  test.each([
    { name: "states its duration", isOpenEnded: false },
    { name: "is released when it is over", isOpenEnded: true },
  ])("lends what a job that $name gives back when it has been torn down", ({ isOpenEnded }) => {
    const jobs = [job("first", { isOpenEnded }), job("second", { atMs: 1000 })];
    const fleet = new FleetSimulation({
      clusters: CLUSTERS,
      policy: DEFAULT_POLICY,
      jobs: new Map(jobs.map((each) => [each.id, each])),
    });
    const started: [string, number][] = [];
    fleet.onGranted = ({ id }) => started.push([id, fleet.elapsedMs]);
    const queue = new LedgerQueue(fleet, { waitForMs: 4 * HOUR_MS });
    for (const each of jobs) fleet.after(each.atMs, () => queue.arrive(each));
    fleet.run(() => started.length === 2);
    expect(started).toEqual([
      ["first", 0],
      ["second", HOUR_MS + 120_000],
    ]);
    // Once it is being torn down, the end of the open-ended one is known, too.
    expect(queue.promises.made).toBe(1);
    expect([queue.promises.late, queue.idleWaits, queue.refused]).toEqual([[], [], []]);
    expect(fleet.written.get("queued")).toBe(1);
  });

  test("nobody who waits in a random fleet starts late or waits for nothing", () => {
    const { jobs } = traceOf(3, 120);
    const fleet = new FleetSimulation({
      clusters: CLUSTERS,
      policy: { ...DEFAULT_POLICY, queue: { ...DEFAULT_POLICY.queue, maxPerTenant: 120 } },
      jobs: new Map(jobs.map((each) => [each.id, each])),
    });
    const queue = new LedgerQueue(fleet, { waitForMs: 24 * HOUR_MS });
    let arrived = 0;
    for (const each of jobs) {
      fleet.after(each.atMs, () => {
        arrived++;
        queue.arrive(each);
      });
    }
    fleet.run(() => arrived === jobs.length && fleet.ledger.waiting.pendingCount === 0);
    expect(queue.promises.made).toBeGreaterThan(5);
    expect([queue.promises.late, queue.idleWaits]).toEqual([[], []]);
  });
});
