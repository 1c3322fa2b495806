import {
  KUBE_ANNOTATION,
  KUBE_LABEL,
  RESERVATION_CONDITION,
  type Reservation,
} from "@resource-broker/contract/crd";
import { describe, expect, test } from "vitest";
import {
  DELETED,
  ledgerReservation,
  live,
  NOW,
  PERSONS_ID,
  type PlanRow,
  plan,
  reported,
  stepNameOf,
} from "./testing/plan-case.ts";

function withCondition(
  object: Reservation,
  type: keyof typeof RESERVATION_CONDITION,
  more: object = {},
): Reservation {
  const condition = {
    type: RESERVATION_CONDITION[type],
    status: "True",
    reason: "Said",
    message: "why",
    lastTransitionTime: DELETED,
    ...more,
  } as const;
  return {
    ...object,
    status: { ...object.status, conditions: [...(object.status?.conditions ?? []), condition] },
  };
}

function withRenewal(object: Reservation, text: string): Reservation {
  return { ...object, metadata: { ...object.metadata, annotations: { [KUBE_ANNOTATION.renew]: text } } };
}

const STEPS: readonly PlanRow[] = [
  [
    "RequesterActive activates",
    { object: withCondition(reported(live), "requesterActive"), ledger: [live] },
    "submit activate",
  ],
  [
    "RequesterActive says nothing new of an active reservation",
    {
      object: withCondition(reported(ledgerReservation(PERSONS_ID, { phase: "Active" })), "requesterActive"),
      ledger: [ledgerReservation(PERSONS_ID, { phase: "Active" })],
    },
    "done",
  ],
  [
    "RequesterReleased releases what is Reserved",
    { object: withCondition(reported(live), "requesterReleased"), ledger: [live] },
    "submit release",
  ],
  [
    "RequesterReleased releases what is Active",
    {
      object: withCondition(reported(live), "requesterReleased"),
      ledger: [ledgerReservation(PERSONS_ID, { phase: "Active" })],
    },
    "submit release",
  ],
  [
    "RequesterReleased counts more than RequesterActive",
    {
      object: withCondition(withCondition(reported(live), "requesterActive"), "requesterReleased"),
      ledger: [live],
    },
    "submit release",
  ],
  [
    "a signal that is False says nothing",
    { object: withCondition(reported(live), "requesterReleased", { status: "False" }), ledger: [live] },
    "done",
  ],
  [
    "ProviderHolding acknowledges",
    { object: withCondition(reported(live), "providerHolding"), ledger: [live] },
    "submit acknowledge",
  ],
  [
    "ProviderHolding says nothing new of what is acknowledged",
    {
      object: withCondition(
        reported(ledgerReservation(PERSONS_ID, { acknowledged: true })),
        "providerHolding",
      ),
      ledger: [ledgerReservation(PERSONS_ID, { acknowledged: true })],
    },
    "done",
  ],
  [
    "ProviderHolding=False with the reason Refused refuses",
    {
      object: withCondition(reported(live), "providerHolding", { status: "False", reason: "Refused" }),
      ledger: [live],
    },
    "submit refuse",
  ],
  [
    "ProviderHolding=False with another reason says nothing",
    {
      object: withCondition(reported(live), "providerHolding", { status: "False", reason: "Starting" }),
      ledger: [live],
    },
    "done",
  ],
  ["a new renewal is carried out", { object: withRenewal(reported(live), "1h a"), ledger: [live] }, "renew"],
  [
    "a renewal that was carried out is not repeated",
    {
      object: withRenewal(
        { ...reported(live), status: { ...reported(live).status, renewed: "1h a" } },
        "1h a",
      ),
      ledger: [live],
    },
    "done",
  ],
  [
    "nothing is said to a reservation that is over",
    {
      object: withCondition(reported(ledgerReservation(PERSONS_ID, { expiresAt: NOW })), "requesterActive"),
      ledger: [ledgerReservation(PERSONS_ID, { expiresAt: NOW })],
    },
    "done",
  ],
  [
    "a view's signals count",
    {
      object: withCondition(
        { ...reported(live), metadata: { name: PERSONS_ID, labels: { [KUBE_LABEL.view]: "true" } } },
        "requesterReleased",
      ),
      ledger: [live],
    },
    "submit release",
  ],
];

describe("what is done about the parties' words:", () => {
  test.each(STEPS)("%s", (_, state, expected) => {
    expect(stepNameOf(state)).toBe(expected);
  });

  test("a renewal that is no duration says what is wrong with it", () => {
    const step = plan({ object: withRenewal(reported(live), "soon a"), ledger: [live] });
    expect(step).toMatchObject({
      kind: "renew",
      renewal: { text: "soon a", problem: expect.stringContaining("soon") },
    });
  });
});
