import {
  KUBE_ANNOTATION,
  KUBE_LABEL,
  RESERVATION_CONDITION,
  type Reservation,
} from "@resource-broker/contract";
import { describe, expect, test } from "vitest";
import {
  booked,
  DELETED,
  live,
  NOW,
  PERSONS_ID,
  plan,
  type PlanRow,
  stepNameOf,
  told,
} from "./testing/plan-case.ts";

function saying(
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

function wishing(object: Reservation, text: string): Reservation {
  return { ...object, metadata: { ...object.metadata, annotations: { [KUBE_ANNOTATION.renew]: text } } };
}

const STEPS: readonly PlanRow[] = [
  [
    "RequesterActive activates",
    { object: saying(told(live), "requesterActive"), ledger: [live] },
    "submit activate",
  ],
  [
    "RequesterActive says nothing new of an active reservation",
    {
      object: saying(told(booked(PERSONS_ID, { phase: "Active" })), "requesterActive"),
      ledger: [booked(PERSONS_ID, { phase: "Active" })],
    },
    "rest",
  ],
  [
    "RequesterReleased releases what is Reserved",
    { object: saying(told(live), "requesterReleased"), ledger: [live] },
    "submit release",
  ],
  [
    "RequesterReleased releases what is Active",
    { object: saying(told(live), "requesterReleased"), ledger: [booked(PERSONS_ID, { phase: "Active" })] },
    "submit release",
  ],
  [
    "RequesterReleased counts more than RequesterActive",
    { object: saying(saying(told(live), "requesterActive"), "requesterReleased"), ledger: [live] },
    "submit release",
  ],
  [
    "a signal that is False says nothing",
    { object: saying(told(live), "requesterReleased", { status: "False" }), ledger: [live] },
    "rest",
  ],
  [
    "ProviderHolding acknowledges",
    { object: saying(told(live), "providerHolding"), ledger: [live] },
    "submit acknowledge",
  ],
  [
    "ProviderHolding says nothing new of what is acknowledged",
    {
      object: saying(told(booked(PERSONS_ID, { acknowledged: true })), "providerHolding"),
      ledger: [booked(PERSONS_ID, { acknowledged: true })],
    },
    "rest",
  ],
  [
    "ProviderHolding=False with the reason Refused refuses",
    { object: saying(told(live), "providerHolding", { status: "False", reason: "Refused" }), ledger: [live] },
    "submit refuse",
  ],
  [
    "ProviderHolding=False with another reason says nothing",
    {
      object: saying(told(live), "providerHolding", { status: "False", reason: "Starting" }),
      ledger: [live],
    },
    "rest",
  ],
  ["a new renewal is carried out", { object: wishing(told(live), "1h a"), ledger: [live] }, "renew"],
  [
    "a renewal that was carried out is not repeated",
    {
      object: wishing({ ...told(live), status: { ...told(live).status, renewed: "1h a" } }, "1h a"),
      ledger: [live],
    },
    "rest",
  ],
  [
    "nothing is said to a reservation that is over",
    {
      object: saying(told(booked(PERSONS_ID, { expiresAt: NOW })), "requesterActive"),
      ledger: [booked(PERSONS_ID, { expiresAt: NOW })],
    },
    "rest",
  ],
  [
    "a view's signals count",
    {
      object: saying(
        { ...told(live), metadata: { name: PERSONS_ID, labels: { [KUBE_LABEL.view]: "true" } } },
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
    const step = plan({ object: wishing(told(live), "soon a"), ledger: [live] });
    expect(step).toMatchObject({
      kind: "renew",
      wish: { text: "soon a", problem: expect.stringContaining("soon") },
    });
  });
});
