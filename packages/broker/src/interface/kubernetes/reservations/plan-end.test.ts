import { KUBE_LABEL } from "@resource-broker/contract";
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
  personsObject,
  type PlanRow,
  RELEASED,
  reported,
  stepNameOf,
} from "./testing/plan-case.ts";

const STEPS: readonly PlanRow[] = [
  [
    "the end of a reservation lets its object go",
    { object: reported(live), ledger: [ledgerReservation(PERSONS_ID, RELEASED)] },
    "let-go",
  ],
  [
    "the end of a reservation is told",
    { object: reported(live, { finalizers: [] }), ledger: [ledgerReservation(PERSONS_ID, RELEASED)] },
    "tell",
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
    "let-go",
  ],
  [
    "a deleted object that was never decided is let go",
    { object: personsObject({ finalizers: FINALIZERS, deletionTimestamp: DELETED }) },
    "let-go",
  ],
  [
    "a deleted object that others hold is theirs",
    { object: personsObject({ finalizers: ["x.y/z"], deletionTimestamp: DELETED }) },
    "rest",
  ],
  [
    "a deleted copy of an agent's object under another name releases nothing",
    {
      object: agentsObject({ name: "copy", finalizers: FINALIZERS, deletionTimestamp: DELETED }),
      ledger: [ledgerReservation(AGENTS_ID, { key: "k1" })],
    },
    "let-go",
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
    "let-go",
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
    "rest",
  ],
  [
    "a person's ended object stays",
    { object: personsObject({}, { status: { phase: "Released", lastUpdateTime: answered(2 * DAY) } }) },
    "rest",
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
    "rest",
  ],
  [
    "a refused request lets its object go",
    {
      object: personsObject(
        { finalizers: FINALIZERS },
        { status: { phase: "Failed", reason: "NoCapacity", code: "no-capacity" } },
      ),
    },
    "let-go",
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
    "rest",
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
