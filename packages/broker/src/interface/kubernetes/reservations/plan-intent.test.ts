import type { Reservation } from "@resource-broker/contract/crd";
import { describe, expect, test } from "vitest";
import { agentsReservation, personsReservation } from "../testing/samples.ts";
import { answered, DAY, ledgerReservation, type PlanRow, stepNameOf } from "./testing/plan-case.ts";

function offer(): Reservation {
  return personsReservation("rsv-rome-abcdefghijklmnop-offer-paris", {
    intent: "Adopt",
    targetClusterID: "paris",
    offer: {
      id: "rsv-rome-abcdefghijklmnop",
      by: "paris",
      phase: "Active",
      generation: 3,
      createdAt: "2026-01-05T10:00:00Z",
    },
  });
}

const STEPS: readonly PlanRow[] = [
  ["a quote is answered", { object: personsReservation("q", { intent: "Quote" }) }, "quote"],
  [
    "a quote that cannot be read is answered so",
    {
      object: personsReservation("q", {
        intent: "Quote",
        requestedResources: { cpu: "1", memory: "1Gi", gpu: "0.1" },
      }),
    },
    "write-status",
  ],
  [
    "an answered quote is kept for its maker",
    {
      object: {
        ...personsReservation("q", { intent: "Quote" }),
        status: { fits: true, lastUpdateTime: answered(599_999) },
      },
    },
    "done",
  ],
  [
    "an answered quote is deleted after ten minutes",
    {
      object: {
        ...personsReservation("q", { intent: "Quote" }),
        status: { fits: false, lastUpdateTime: answered(600_000) },
      },
    },
    "delete",
  ],
  [
    "a release by key closes the key",
    { object: agentsReservation("k1", { intent: "Release" }) },
    "close-key",
  ],
  [
    "a release by key of a wrong name is refused",
    { object: personsReservation("other", { intent: "Release", key: "k1" }) },
    "write-status",
  ],
  [
    "a release by key is told again to a ledger that lost its memory",
    {
      object: {
        ...agentsReservation("k1", { intent: "Release" }),
        status: { phase: "Released", ledgerID: "led-0", lastUpdateTime: answered(5) },
      },
    },
    "close-key",
  ],
  [
    "an answered release by key is kept for a day",
    {
      object: {
        ...agentsReservation("k1", { intent: "Release" }),
        status: { phase: "Released", ledgerID: "led-1", lastUpdateTime: answered(5) },
      },
      closedKeys: ["k1"],
    },
    "done",
  ],
  [
    "a release by key is told again to a ledger that was restored from an older backup",
    {
      object: {
        ...agentsReservation("k1", { intent: "Release" }),
        status: { phase: "Released", ledgerID: "led-1", lastUpdateTime: answered(5) },
      },
    },
    "close-key",
  ],
  [
    "an answered release by key is deleted after a day",
    {
      object: {
        ...agentsReservation("k1", { intent: "Release" }),
        status: { phase: "Released", ledgerID: "led-1", lastUpdateTime: answered(DAY) },
      },
    },
    "delete",
  ],
  ["an offer is put before the ledger", { object: offer() }, "offer"],
  [
    "an offer that waits is left alone",
    { object: { ...offer(), status: { outcome: "waiting" } }, isOffered: true },
    "done",
  ],
  [
    "an offer that waits is put before the ledger by each new process",
    { object: { ...offer(), status: { outcome: "waiting" } } },
    "offer",
  ],
  [
    "an offer that waits is asked again when the ledger knows the hold",
    {
      object: { ...offer(), status: { outcome: "waiting" } },
      ledger: [ledgerReservation("rsv-rome-abcdefghijklmnop")],
      isOffered: true,
    },
    "offer",
  ],
  [
    "an offer of a wrong name is refused",
    { object: { ...offer(), metadata: { name: "other" } } },
    "write-status",
  ],
  [
    "an offer that was adopted is deleted after ten minutes",
    { object: { ...offer(), status: { outcome: "adopted", lastUpdateTime: answered(600_000) } } },
    "delete",
  ],
];

describe("what is done about an object that asks for something else:", () => {
  test.each(STEPS)("%s", (_, state, expected) => {
    expect(stepNameOf(state)).toBe(expected);
  });
});
