import { formatTime } from "@resource-broker/base";
import type { AdvertisementDTO } from "@resource-broker/contract";
import { advertisementBody } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import { clusterViews, withheldText } from "./cluster-view.ts";

const NOW = Date.UTC(2026, 0, 15, 12);
const FRESH = { receivedAt: formatTime(NOW - 12_000), isStale: false };
const CORDON = { by: "admin", at: formatTime(NOW - 60_000), reason: "new kernel" };
const EVICTED = { type: "Cordoned", message: "Evicted: calls of this cluster are refused." } as const;

function advertised(more: Partial<AdvertisementDTO>): AdvertisementDTO {
  const body = advertisementBody("paris", { cpu: 8, memoryGi: 32 });
  return { ...body, timestamp: formatTime(NOW - 30_000), ...more };
}
const { resources } = advertised({});

test.each([
  { name: "one that was heard is ready", more: { standing: FRESH }, status: "Ready" },
  { name: "a cordon is told", more: { standing: { ...FRESH, cordon: CORDON } }, status: "Cordoned" },
  {
    name: "a cordon comes before age",
    more: { standing: { ...FRESH, isStale: true, cordon: CORDON } },
    status: "Cordoned",
  },
  {
    name: "one that was evicted does not lend, though nobody has cordoned it",
    more: { standing: { ...FRESH, conditions: [EVICTED] } },
    status: "Cordoned",
  },
  { name: "age is told", more: { standing: { ...FRESH, isStale: true } }, status: "Stale" },
  {
    name: "one without anything left is full",
    more: { standing: FRESH, resources: { ...resources, available: { cpu: "0", memory: "4Gi" } } },
    status: "Full",
  },
  {
    name: "one that lends more than it has is overcommitted",
    more: { standing: FRESH, resources: { ...resources, reserved: { cpu: "9", memory: "1Gi" } } },
    status: "Overcommitted",
  },
])("$name", ({ more, status }) => {
  expect(clusterViews({ items: [advertised(more)], at: NOW })).toMatchObject([{ status, ageMs: 12_000 }]);
});

test("why it does not lend is said in words; an older broker does not say, then the agent's own clock counts", () => {
  const items = [
    advertised({ standing: { ...FRESH, cordon: CORDON } }),
    advertised({ standing: { ...FRESH, conditions: [EVICTED] } }),
    advertised({}),
  ];
  expect(clusterViews({ items, at: NOW })).toMatchObject([
    { why: "cordoned by admin: new kernel" },
    { why: EVICTED.message },
    { status: "Unknown", ageMs: 30_000 },
  ]);
});

test("what an older agent's cluster borrows is told, and makes it no less able to lend what is left", () => {
  const withheld = { cpu: "4", memory: "8Gi" };
  const advertisement = advertised({ standing: { ...FRESH, withheld } });
  expect(withheldText(advertisement)).toBe(
    "4 CPU / 8Gi Memory that it has borrowed: its older agent counts them as its own",
  );
  expect(withheldText(advertised({ standing: FRESH }))).toBeUndefined();
});
