import type { Reservation } from "@resource-broker/domain";
import { requestFor } from "@resource-broker/testkit";
import { expect, it } from "vitest";
import { contradictionIn } from "./contradiction.ts";

const LIVE: Reservation = {
  id: "rsv-1",
  requester: "rome",
  provider: "paris",
  granted: requestFor(1).resources,
  request: requestFor(1),
  phase: "Reserved",
  createdAt: 1,
  reservedAt: 1,
  acknowledged: false,
  generation: 1,
};

const ENDED: Reservation = {
  ...LIVE,
  id: "rsv-2",
  phase: "Released",
  reason: "Expired",
  endedAt: 2,
  keepUntil: 3,
};

const HUGE = { ...LIVE.granted, memoryBytes: Number.MAX_SAFE_INTEGER - 1 };

type Row = readonly [name: string, says: string, reservations: readonly Reservation[]];
const CONTRADICTIONS: readonly Row[] = [
  ["no provider", "rsv-1 has no provider", [{ ...LIVE, provider: "" }]],
  ["no requester", "rsv-1 has no requester", [{ ...LIVE, requester: "" }]],
  ["a cluster in both roles", "is both requester and provider", [{ ...LIVE, requester: "paris" }]],
  ["a phase that is never stored", "is in phase Pending", [{ ...LIVE, phase: "Pending" }]],
  ["an end without an ended phase", "Active, yet has ended", [{ ...ENDED, phase: "Active" }]],
  ["an ended phase without an end", "Failed, yet has not ended", [{ ...LIVE, phase: "Failed" }]],
  ["a negative grant", "impossible amount", [{ ...LIVE, granted: { ...LIVE.granted, gpus: -1 } }]],
  ["a fraction of a unit", "impossible amount", [{ ...LIVE, granted: { ...LIVE.granted, cpuMillis: 0.5 } }]],
  [
    "more lent than can be counted",
    "paris exceed what can be counted",
    [LIVE, ENDED, { ...LIVE, id: "rsv-3" }].map((each) => ({ ...each, granted: HUGE })),
  ],
  [
    "one key for two reservations",
    "key k of rome made both rsv-1 and rsv-2",
    [LIVE, ENDED].map((each) => ({ ...each, key: "k" })),
  ],
];

it.each(CONTRADICTIONS)("records with %s contradict themselves", (_, says, reservations) => {
  expect(contradictionIn({ reservations })).toContain(says);
});

it("live and ended reservations, and one key for each of two requesters, do not", () => {
  const keyed = [
    { ...LIVE, id: "a", key: "k" },
    { ...LIVE, id: "b", requester: "bonn", key: "k" },
  ];
  expect(contradictionIn({ reservations: [LIVE, ENDED, ...keyed] })).toBeUndefined();
});
