import { KUBE_LABEL } from "@resource-broker/contract/crd";
import { describe, expect, test } from "vitest";
import { agentsReservation } from "../testing/samples.ts";
import {
  AGENTS_ID,
  agentsObject,
  answered,
  DAY,
  DELETED,
  FINALIZERS,
  ledgerReservation,
  live,
  other,
  PERSONS_ID,
  type PlanRow,
  personsObject,
  RELEASED,
  reported,
  stepNameOf,
} from "./testing/plan-case.ts";

const STEPS: readonly PlanRow[] = [
  [
    "the end of a reservation lets its object go",
    { object: reported(live), ledger: [ledgerReservation(PERSONS_ID, RELEASED)] },
    "remove-finalizer",
  ],
  [
    "the end of a reservation is told",
    { object: reported(live, { finalizers: [] }), ledger: [ledgerReservation(PERSONS_ID, RELEASED)] },
    "write-status",
  ],
  [
    "a deleted object releases what it holds",
    { object: reported(live, { deletionTimestamp: DELETED }), ledger: [live] },
    "release-deleted",
  ],
  [
    "a deleted object whose reservation has ended is let go",
    {
      object: reported(live, { deletionTimestamp: DELETED }),
      ledger: [ledgerReservation(PERSONS_ID, RELEASED)],
    },
    "remove-finalizer",
  ],
  [
    "a deleted object that was never decided is let go",
    { object: personsObject({ finalizers: FINALIZERS, deletionTimestamp: DELETED }) },
    "remove-finalizer",
  ],
  [
    "a deleted object that others hold is theirs",
    { object: personsObject({ finalizers: ["x.y/z"], deletionTimestamp: DELETED }) },
    "done",
  ],
  [
    "a deleted copy of an agent's object under another name releases nothing",
    {
      object: agentsObject({ name: "copy", finalizers: FINALIZERS, deletionTimestamp: DELETED }),
      ledger: [ledgerReservation(AGENTS_ID, { key: "k1" })],
    },
    "remove-finalizer",
  ],
  [
    "a deleted object that was refused because its key is taken releases nothing",
    {
      object: {
        ...agentsObject({ finalizers: FINALIZERS, deletionTimestamp: DELETED }),
        status: { phase: "Failed", reason: "Invalid", code: "key-mismatch" },
      },
      ledger: [other],
    },
    "remove-finalizer",
  ],
  [
    "a view that is deleted releases nothing",
    {
      object: {
        ...reported(live),
        metadata: { name: PERSONS_ID, labels: { [KUBE_LABEL.view]: "true" }, deletionTimestamp: DELETED },
      },
      ledger: [live],
    },
    "done",
  ],
  [
    "a person's ended object stays",
    { object: personsObject({}, { status: { phase: "Released", lastUpdateTime: answered(2 * DAY) } }) },
    "done",
  ],
  [
    "an agent's ended object is deleted after a day",
    { object: { ...agentsReservation("k1"), status: { phase: "Released", lastUpdateTime: answered(DAY) } } },
    "delete",
  ],
  [
    "an agent's ended object is kept for a day",
    {
      object: {
        ...agentsReservation("k1"),
        status: { phase: "Released", lastUpdateTime: answered(DAY - 1) },
      },
    },
    "done",
  ],
  [
    "a refused request lets its object go",
    {
      object: personsObject(
        { finalizers: FINALIZERS },
        { status: { phase: "Failed", reason: "NoCapacity", code: "no-capacity" } },
      ),
    },
    "remove-finalizer",
  ],
  [
    "a request refused because its key is taken never shows the other one's reservation",
    {
      object: {
        ...agentsReservation("k1"),
        status: { phase: "Failed", reason: "Invalid", code: "key-mismatch" },
      },
      ledger: [other],
    },
    "done",
  ],
  [
    "a request refused because its key is taken makes room for a view of the other after ten minutes",
    {
      object: {
        ...agentsReservation("k1"),
        status: { phase: "Failed", reason: "Invalid", lastUpdateTime: answered(600_000) },
      },
      ledger: [other],
    },
    "delete",
  ],
];

describe("what is done about a Reservation that is deleted, refused or over:", () => {
  test.each(STEPS)("%s", (_, state, expected) => {
    expect(stepNameOf(state)).toBe(expected);
  });
});
