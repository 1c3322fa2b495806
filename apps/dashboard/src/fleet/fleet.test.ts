import { expect, test } from "vitest";
import { fleetPath, readFleetQuery } from "./fleet-query.ts";
import { clusterStates, fleetTotals, gpuModels, priceText, secondName } from "./fleet-view.ts";

test("a fleet without wishes is all clusters by ID", () => {
  expect(fleetPath(readFleetQuery(new URLSearchParams()))).toBe("/ui/clusters?sort=id&order=asc&limit=50");
});

test("what makes no sense in the address is left out", () => {
  const query = new URLSearchParams("sort=beauty&order=up&state=odd&offset=-7&q=eu west");
  expect(readFleetQuery(query)).toEqual({ q: "eu west", state: "all", sort: "id", order: "asc", offset: 0 });
});

test("a filter goes to the broker", () => {
  const query = readFleetQuery(new URLSearchParams("state=stale&sort=cpu&order=desc&offset=100"));
  expect(fleetPath(query)).toBe("/ui/clusters?state=stale&sort=cpu&order=desc&offset=100&limit=50");
});

test("a cluster without conditions is ready; each condition has a word, a sign and a reason", () => {
  expect(clusterStates({ conditions: [] })).toMatchObject([{ tone: "good", text: "Ready" }]);
  const conditions = [
    { type: "Stale", message: "not heard for 4m" },
    { type: "Overcommitted", message: "3 CPU too many" },
  ] as const;
  expect(clusterStates({ conditions })).toEqual([
    { tone: "warn", icon: "clock", text: "Stale", title: "not heard for 4m" },
    { tone: "bad", icon: "warning", text: "Overcommitted", title: "3 CPU too many" },
  ]);
});

test("a price names each resource that has one", () => {
  expect(priceText({ cpu: 0.04, memory: 0.005, gpu: null, currency: "EUR" })).toBe(
    "€0.04\u00a0CPU\u00a0· €0.005\u00a0GB",
  );
  expect(priceText({ cpu: null, memory: null, gpu: null, currency: "EUR" })).toBeNull();
  expect(priceText(null)).toBeNull();
});

test("totals say how many are not ready", () => {
  const none = { cpu: 0, memory: 0, gpu: 0 };
  const totals = {
    clusters: 18,
    ready: 17,
    live: 35,
    spendPerHour: { amount: 41.2, currency: "EUR" },
    capacity: { allocatable: none, allocated: none, reserved: none, available: none },
  };
  expect(fleetTotals(totals)).toEqual({
    clusters: "18",
    clustersNote: "17 ready, 1 not",
    live: "35",
    spend: "€41.20",
  });
  expect(fleetTotals({ ...totals, ready: 18 }).clustersNote).toBe("all ready to lend");
  expect(fleetTotals({ ...totals, clusters: 0, ready: 0 }).clustersNote).toBe("none");
});

test("a name that says no more than the ID is not repeated", () => {
  expect(secondName({ id: "paris", name: "paris" })).toBeNull();
  expect(secondName({ id: "paris", name: "" })).toBeNull();
  expect(secondName({ id: "paris", name: "Paris data centre" })).toBe("Paris data centre");
  expect(gpuModels([{ model: "H100", count: 8 }])).toBe("8 × H100");
});
