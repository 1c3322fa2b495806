import { type AdvertisementDTO, Fault, formatTime } from "@resource-broker/contract";
import { advertisementBody } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import type { Broker } from "../connection/broker.ts";
import { standingOf } from "./standing.ts";

const NOW = Date.UTC(2026, 0, 15, 12);
const SIZE = { cpu: 8, memoryGi: 32 };

function advertised(id: string): AdvertisementDTO {
  return { ...advertisementBody(id, SIZE), timestamp: formatTime(NOW - 30_000) };
}

/** A broker whose quote tells this of its candidates. */
function telling(candidates: readonly object[], counts: object = {}): Broker {
  const ask = async () => ({ value: { decision: { candidates, counts } }, headers: {}, at: NOW });
  return { ask } as unknown as Broker;
}

const candidate = (more: object) => ({ clusterID: "paris", advertisementAge: "12s", ...more });
const statusIn = async (broker: Broker, items = [advertised("paris"), advertised("tokyo")]) =>
  (await standingOf(broker, { items, at: NOW })).map(({ status, ageMs }) => ({ status, ageMs }));

test.each([
  { name: "one that fits is ready", told: {}, status: "Ready" },
  { name: "a cordon is told", told: { reason: "cordoned" }, status: "Cordoned" },
  {
    name: "a cordon is told behind another reason",
    told: { reason: "self", alsoRefusedBy: ["cordoned"] },
    status: "Cordoned",
  },
  {
    name: "a cordon comes before age",
    told: { reason: "cordoned", alsoRefusedBy: ["stale"] },
    status: "Cordoned",
  },
  { name: "age is told", told: { reason: "lending-policy", alsoRefusedBy: ["stale"] }, status: "Stale" },
  { name: "want of room is told", told: { reason: "capacity" }, status: "Full" },
  {
    name: "a policy against this asker is none of the cluster's",
    told: { reason: "lending-policy" },
    status: "Ready",
  },
])("$name", async ({ told, status }) => {
  const [paris] = await statusIn(telling([candidate(told)]));
  expect(paris).toEqual({ status, ageMs: 12_000 });
});

test("those that a long decision leaves out are judged when nobody was passed over but for room", async () => {
  const [, tokyo] = await statusIn(telling([candidate({})], { self: 1, capacity: 3 }));
  expect(tokyo).toEqual({ status: "Ready", ageMs: 30_000 });
});

test("those that a long decision leaves out are not judged when some were passed over", async () => {
  const [, tokyo] = await statusIn(telling([candidate({})], { cordoned: 1 }));
  expect(tokyo).toEqual({ status: "Unknown", ageMs: 30_000 });
});

test("one without anything left is full, also when it is left out", async () => {
  const { resources, ...rest } = advertised("oslo");
  const full = { ...rest, resources: { ...resources, available: { cpu: "0", memory: "4Gi" } } };
  expect(await statusIn(telling([]), [full])).toEqual([{ status: "Full", ageMs: 30_000 }]);
});

test("a broker that gives no quote now does not hide the clusters", async () => {
  const ask = async () => {
    throw new Fault("overloaded", "too busy");
  };
  const statuses = await statusIn({ ask } as unknown as Broker);
  expect(statuses.map(({ status }) => status)).toEqual(["Unknown", "Unknown"]);
});
