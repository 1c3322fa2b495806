import { expect, test } from "vitest";
import { fleetText, randomFleet, runFleet } from "./run-fleet.ts";

test("a fleet is the same for the same seed, and tells what it is in one line", () => {
  expect(randomFleet(3, 50)).toEqual(randomFleet(3, 50));
  expect(fleetText(randomFleet(3, 50))).toMatch(/^fleet 3 \(.* CPU; tenant-1 weight \d demand \d/);
});

test("nobody starves in the first random fleets, and no promise is broken", () => {
  for (const seed of [1, 3, 8]) {
    const fleet = randomFleet(seed, 60);
    const { starved, faults, served } = runFleet(fleet, 10);
    expect([fleetText(fleet), starved, faults]).toEqual([fleetText(fleet), [], []]);
    expect(served).toBe(60);
  }
});

test("who asks for more than any cluster has starves, and is found", () => {
  const fleet = randomFleet(3, 5);
  const [first, ...others] = fleet.trace.jobs;
  if (first === undefined) return expect.unreachable();
  const jobs = [{ ...first, cpus: 1000 }, ...others];
  const { starved, served } = runFleet({ ...fleet, trace: { ...fleet.trace, jobs } }, 0.25);
  expect(served).toBe(4);
  expect(starved).toMatchObject([{ job: { id: first.id } }]);
  expect(starved[0]?.waitedHours).toBeGreaterThan(5);
});
