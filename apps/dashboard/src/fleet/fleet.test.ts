import type { AdvertisementDTO } from "@resource-broker/contract";
import { expect, test } from "vitest";
import { clusterStates, gpuModels, priceText, readyText, secondName } from "./fleet-view.ts";

const AT = "2026-07-01T10:00:00Z";
const NONE = { cpu: "0", memory: "0" };
const PARIS: AdvertisementDTO = {
  clusterID: "paris",
  resources: { capacity: NONE, allocatable: NONE, allocated: NONE, available: NONE },
  timestamp: AT,
};

test("a cluster without conditions is ready; each condition has a word, a sign and a reason", () => {
  expect(clusterStates(PARIS)).toMatchObject([{ tone: "good", text: "Ready" }]);
  const conditions = [
    { type: "Stale", message: "not heard for 4m" },
    { type: "Overcommitted", message: "3 CPU too many" },
  ] as const;
  expect(clusterStates({ ...PARIS, standing: { receivedAt: AT, isStale: true, conditions } })).toEqual([
    { tone: "warn", icon: "clock", text: "Stale", title: "not heard for 4m" },
    { tone: "bad", icon: "warning", text: "Overcommitted", title: "3 CPU too many" },
  ]);
});

test.each([
  [{ cpu: 0.04, memory: 0.005 }, "€0.04\u00a0CPU\u00a0· €0.005\u00a0GB"],
  [{ gpu: 2, "hugepages-2Mi": 0.006 }, "€2.00\u00a0GPU\u00a0· €0.006\u00a0GB\u00a0HugePages-2Mi"],
  [{}, null],
])("the prices %o read %s", (prices, text) => {
  expect(priceText({ ...prices, currency: "EUR" })).toBe(text);
});

test.each([
  [17, 18, "17 ready, 1 not"],
  [18, 18, "all ready to lend"],
  [0, 0, "none"],
])("%d of %d clusters: %s", (ready, clusters, text) => {
  expect(readyText({ ready }, clusters)).toBe(text);
});

test("a name that says no more than the ID is not repeated", () => {
  expect(secondName({ ...PARIS, clusterName: "paris" })).toBeNull();
  expect(secondName(PARIS)).toBeNull();
  expect(secondName({ ...PARIS, clusterName: "Paris data centre" })).toBe("Paris data centre");
  expect(gpuModels({ ...PARIS, gpus: [{ model: "H100", count: 8 }] })).toBe("8 × H100");
});
