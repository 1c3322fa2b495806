import type { Reservation } from "@resource-broker/domain";
import { requestFor } from "@resource-broker/testkit";
import { describe, expect, it } from "vitest";
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

function recount(...reservations: readonly Reservation[]): string | undefined {
  return contradictionIn({ reservations, closedKeys: [], cordons: [], advertisements: [], time: 0 });
}

describe("counting again what a store returned", () => {
  it("agrees with live and ended reservations, and with one key for each of two requesters", () => {
    expect(
      recount(LIVE, ENDED, { ...LIVE, id: "a", key: "k" }, { ...LIVE, id: "b", requester: "bonn", key: "k" }),
    ).toBeUndefined();
  });

  it.each<{ name: string; reservations: Reservation[]; says: RegExp }>([
    { name: "no provider", reservations: [{ ...LIVE, provider: "" }], says: /rsv-1 has no provider/ },
    { name: "no requester", reservations: [{ ...LIVE, requester: "" }], says: /rsv-1 has no requester/ },
    {
      name: "a cluster that is both requester and provider",
      reservations: [{ ...LIVE, requester: "paris" }],
      says: /is both requester and provider/,
    },
    {
      name: "a phase that is never stored",
      reservations: [{ ...LIVE, phase: "Pending" }],
      says: /is in phase Pending/,
    },
    {
      name: "an end without an ended phase",
      reservations: [{ ...ENDED, phase: "Active" }],
      says: /Active, yet has ended/,
    },
    {
      name: "an ended phase without an end",
      reservations: [{ ...LIVE, phase: "Failed" }],
      says: /Failed, yet has not ended/,
    },
    {
      name: "a negative grant",
      reservations: [{ ...LIVE, granted: { ...LIVE.granted, gpus: -1 } }],
      says: /impossible amount/,
    },
    {
      name: "a fraction of a unit",
      reservations: [{ ...LIVE, granted: { ...LIVE.granted, cpuMillis: 0.5 } }],
      says: /impossible amount/,
    },
    {
      name: "more lent than can be counted",
      reservations: [
        { ...LIVE, granted: HUGE },
        { ...LIVE, id: "rsv-3", granted: HUGE },
      ],
      says: /paris exceed what can be counted/,
    },
    {
      name: "one key for two reservations",
      reservations: [
        { ...LIVE, key: "k" },
        { ...ENDED, key: "k" },
      ],
      says: /key k of rome made both rsv-1 and rsv-2/,
    },
  ])("finds $name", ({ reservations, says }) => {
    expect(recount(...reservations)).toMatch(says);
  });
});
