import { expect, test } from "vitest";
import { MOST_CLUSTERS, planFleet } from "./plan-fleet.ts";

const namesOf = (clusters: number, nodes: number) =>
  planFleet({ clusters, nodes }).plans.map(({ name }) => name);

test("a fleet nobody asked anything of is the four clusters of the handbook, and paris lends", () => {
  expect(namesOf(4, 0)).toEqual(["rome", "paris", "berlin", "tokyo"]);
  expect(planFleet({ clusters: 4, nodes: 0 })).toMatchObject({ provider: "paris", hasGpus: true });
});

test("a larger fleet keeps those four and adds others", () => {
  expect(namesOf(6, 0)).toEqual(["rome", "paris", "berlin", "tokyo", "boston", "seattle"]);
  expect(planFleet({ clusters: 6, nodes: 0 }).provider).toBeUndefined();
});

test("the largest fleet has as many names as clusters, each one a cluster's name", () => {
  const names = namesOf(MOST_CLUSTERS, 1);
  expect(new Set(names).size).toBe(MOST_CLUSTERS);
  expect(names.filter((name) => !/^[a-z]+$/u.test(name))).toEqual([]);
});

test("twenty clusters of fifty nodes differ in size, price and region, and some have GPUs", () => {
  const { plans } = planFleet({ clusters: 20, nodes: 50 });
  expect(plans.map(({ nodes }) => nodes.length)).toEqual(Array<number>(20).fill(50));
  expect(new Set(plans.map(({ nodes }) => nodes[0]?.cpu)).size).toBeGreaterThan(3);
  expect(new Set(plans.map(({ nodes }) => nodes[0]?.region)).size).toBeGreaterThan(4);
  expect(new Set(plans.map(({ flags }) => flags?.[0])).size).toBeGreaterThan(10);
  expect(plans.filter(({ nodes }) => nodes.some(({ gpus }) => gpus !== undefined))).toHaveLength(5);
});

test("no cluster is planned with more than it has, and only the first is nearly full", () => {
  const shares = planFleet({ clusters: 12, nodes: 7 }).plans.map(({ nodes, pods = [] }) => {
    const all = nodes.reduce((sum, { cpu }) => sum + Number(cpu) * 1000, 0);
    return pods.reduce((sum, { cpu }) => sum + Number.parseInt(cpu, 10), 0) / all;
  });
  expect(shares[0]).toBeGreaterThan(0.9);
  expect(Math.max(...shares)).toBeLessThan(1);
  expect(Math.max(...shares.slice(1))).toBeLessThan(0.76);
  expect(new Set(shares.map((share) => Math.round(share * 4))).size).toBeGreaterThan(3);
});

test("the same order makes the same fleet", () => {
  expect(planFleet({ clusters: 9, nodes: 5 })).toEqual(planFleet({ clusters: 9, nodes: 5 }));
});
