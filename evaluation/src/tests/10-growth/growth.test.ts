import { expect, test } from "vitest";
import { growthTest } from "./growth.ts";
import type { GrowthResult } from "./results.ts";

const result = (rssMb: number, syncCpuMs: number): GrowthResult => ({
  clusters: [1, 10].map((clusters) => ({ clusters, reservationUs: 100, advertisementUs: 100, rssMb: 70 })),
  pods: [200, 150_000].map((pods) => ({ pods, nodes: 7, syncCpuMs, rssMb, privateMb: 20 })),
  wrong: [],
});

test("every chart is log-log and states its slope", () => {
  for (const { x, y, notes = [] } of growthTest.charts(result(70, 1000))) {
    expect([x.scale, y.scale]).toEqual(["log", "log"]);
    expect(notes.join()).toMatch(/slope -?\d/);
  }
});

test("a missed target for the largest cluster is said", () => {
  expect(growthTest.findings(result(70, 1000)).text).not.toContain("Short of our own targets");
  expect(growthTest.findings(result(95, 2500)).text).toContain(
    "**Short of our own targets** for 150,000 pods: 95.0 MB instead of 80 MB; 2,500 ms of CPU instead of 2,000 ms.",
  );
});
