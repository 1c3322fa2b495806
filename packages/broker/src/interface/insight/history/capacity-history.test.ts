import { expect, test } from "vitest";
import { CapacityHistory } from "./capacity-history.ts";

const MOST = 1000;
const WEEK = 7 * 86_400_000;

test("where there is no room, only those make room that were not heard for a week", () => {
  const history = new CapacityHistory();
  const sample = (clusterId: string, at: number): boolean => {
    const series = history.series(clusterId, at);
    series?.sample(at, new Float64Array(9));
    return series !== undefined;
  };
  sample("silent", WEEK);
  for (let count = 1; count < MOST; count++) sample(`cluster-${count}`, 2 * WEEK - 60_000);
  expect(sample("too-many", 2 * WEEK - 60_000)).toBe(false);
  expect(sample("new", 2 * WEEK + 60_000)).toBe(true);
  expect(history.clusters.has("silent")).toBe(false);
  expect(history.clusters.size).toBe(MOST);
});
