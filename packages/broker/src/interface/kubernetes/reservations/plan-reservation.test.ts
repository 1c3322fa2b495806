import { KUBE_LABEL } from "@resource-broker/contract/crd";
import { reservationNameFor } from "@resource-broker/domain";
import { sha256 } from "@resource-broker/runtime";
import { describe, expect, test } from "vitest";
import { agentsReservation, personsReservation } from "../testing/samples.ts";
import {
  AGENTS_ID,
  agentsObject,
  FINALIZERS,
  ledgerReservation,
  live,
  other,
  PERSONS_ID,
  type PlanRow,
  personsObject,
  plan,
  RELEASED,
  reported,
  stepNameOf,
  UID,
} from "./testing/plan-case.ts";

const STEPS: readonly PlanRow[] = [
  ["a new request is held before it is decided", { object: personsObject() }, "add-finalizer"],
  ["a held request is decided", { object: personsObject({ finalizers: FINALIZERS }) }, "decide"],
  [
    "a request that is Pending is decided, too",
    { object: personsObject({ finalizers: FINALIZERS }, { status: { phase: "Pending" } }) },
    "decide",
  ],
  [
    "a booked request whose status was never written gets what was booked, whatever it was edited to",
    {
      object: personsObject(
        { finalizers: FINALIZERS },
        { spec: { ...personsReservation("mine").spec, duration: "9h" } },
      ),
      ledger: [live],
    },
    "set-parties",
  ],
  [
    "an agent's booked request whose status was never written gets what was booked",
    {
      object: agentsObject({ finalizers: FINALIZERS }),
      ledger: [ledgerReservation(AGENTS_ID, { key: "k1" })],
    },
    "set-parties",
  ],
  [
    "an agent's request whose key made another reservation is decided, and so refused",
    { object: agentsObject({ finalizers: FINALIZERS }), ledger: [other] },
    "decide",
  ],
  [
    "an agent's request whose key made a reservation that ended is decided: its key may be closed",
    { object: agentsObject({ finalizers: FINALIZERS }), ledger: [ledgerReservation(AGENTS_ID, RELEASED)] },
    "decide",
  ],
  [
    "a live reservation whose object was edited to be refused is held on to",
    {
      object: { ...reported(live, { finalizers: [] }), status: { phase: "Failed", reason: "NoCapacity" } },
      ledger: [live],
    },
    "add-finalizer",
  ],
  [
    "a request that cannot be read is refused",
    {
      object: personsObject(
        {},
        { spec: { requesterID: "rome", requestedResources: { cpu: "0.5", memory: "1Gi", gpu: "0.5" } } },
      ),
    },
    "refuse",
  ],
  [
    "an agent's request of another name than its key makes is refused",
    { object: { ...agentsReservation("k1"), metadata: { name: "other", namespace: "broker" } } },
    "refuse",
  ],
  [
    "what the ledger says is told",
    { object: { ...reported(live), status: { phase: "Reserved" } }, ledger: [live] },
    "write-status",
  ],
  ["what is told already is left alone", { object: reported(live), ledger: [live] }, "done"],
  [
    "labels that somebody took off are put back",
    { object: reported(live, { labels: {} }), ledger: [live] },
    "set-parties",
  ],
  [
    "a finalizer that somebody took off is put back while it is live",
    { object: reported(live, { finalizers: [] }), ledger: [live] },
    "add-finalizer",
  ],
  [
    "a granted object that the ledger does not know is an orphan, and not decided",
    { object: reported(live), ledger: [] },
    "write-status",
  ],
  [
    "a view that the ledger does not know is not decided",
    { object: { ...personsObject(), metadata: { name: PERSONS_ID, labels: { [KUBE_LABEL.view]: "true" } } } },
    "done",
  ],
];

describe("what is done about a Reservation:", () => {
  test.each(STEPS)("%s", (_, state, expected) => {
    expect(stepNameOf(state)).toBe(expected);
  });

  test("an orphan keeps what was said of it, and says that nobody knows it", () => {
    const step = plan({ object: reported(live) });
    if (step.kind !== "write-status") throw new Error(step.kind);
    const { phase, reservationID, conditions = [] } = step.status;
    expect({ phase, reservationID }).toEqual({ phase: "Reserved", reservationID: PERSONS_ID });
    expect(conditions.map(({ type, status }) => `${type}=${status}`)).toEqual([
      "Orphaned=True",
      "Reserved=Unknown",
      "Ready=False",
    ]);
  });

  test("a request of nobody is refused, and one that an older version granted stays", () => {
    const spec = { requestedResources: { cpu: "1", memory: "1Gi" } };
    const object = personsObject({}, { spec });
    expect(plan({ object })).toMatchObject({
      kind: "refuse",
      refused: { code: "invalid", message: expect.stringContaining("quotas.nobody") },
    });
    expect(plan({ object, mayBeUnnamed: true }).kind).toBe("add-finalizer");
    const id = reservationNameFor("nobody", UID, sha256);
    const status = { phase: "Reserved" } as const;
    const known = ledgerReservation(id, { requester: "nobody" });
    expect(plan({ object: { ...object, status }, ledger: [known] }).kind).toBe("add-finalizer");
  });
});
