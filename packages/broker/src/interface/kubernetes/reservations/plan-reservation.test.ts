import {
  KUBE_ANNOTATION,
  KUBE_LABEL,
  RESERVATION_CONDITION,
  RESERVATION_FINALIZER,
  type Reservation,
} from "@resource-broker/contract";
import type { LedgerView, Reservation as Booked } from "@resource-broker/domain";
import { emptyLedger, keyName, resourceVector } from "@resource-broker/domain";
import { reservationNameFor } from "@resource-broker/runtime";
import { describe, expect, test } from "vitest";
import { reservationStatus } from "../forge/reservation-status.ts";
import { agentsWish, wish } from "../testing/samples.ts";
import { planReservation } from "./plan-reservation.ts";
import type { Step } from "./step.ts";

const NOW = Date.UTC(2026, 0, 5, 12);
const DAY = 24 * 60 * 60 * 1000;
const UID = "11111111-2222-3333-4444-555555555555";
const PERSONS_ID = reservationNameFor("rome", UID);
const AGENTS_ID = reservationNameFor("rome", "k1");
const FINALIZERS = [RESERVATION_FINALIZER];
const DELETED = "2026-01-05T11:59:59Z";

function booked(id: string, more: Partial<Booked> = {}): Booked {
  const granted = resourceVector({ cpuMillis: 500, memoryBytes: 2 ** 29 });
  return {
    id,
    requester: "rome",
    provider: "paris",
    granted,
    request: { resources: granted, priority: 10, constraints: {}, tier: "on-demand" },
    phase: "Reserved",
    createdAt: NOW - 1000,
    reservedAt: NOW - 1000,
    acknowledged: false,
    generation: 1,
    ...more,
  };
}

const RELEASED = { phase: "Released", reason: "ReleasedByRequester", endedAt: NOW } as const;

interface Case {
  readonly object: Reservation;
  readonly ledger?: readonly Booked[];
  /** Of rome. */
  readonly closedKeys?: readonly string[];
  readonly isOffered?: boolean;
}

function ledgerOf(reservations: readonly Booked[] = []): LedgerView {
  return { ...emptyLedger(), reservations: new Map(reservations.map((each) => [each.id, each])) };
}

function plan({ object, ledger: reservations, closedKeys = [], isOffered = false }: Case): Step {
  const closed = closedKeys.map((key) => ({ requester: "rome", key, until: NOW + 1 }));
  const ledger = {
    ...ledgerOf(reservations),
    closedKeys: new Map(closed.map((each) => [keyName("rome", each.key), each])),
  };
  return planReservation({ object, ledger, ledgerId: "led-1", now: NOW, isOffered });
}

function persons(more: Partial<Reservation["metadata"]> = {}, rest: Partial<Reservation> = {}): Reservation {
  const object = wish("mine");
  return { ...object, metadata: { ...object.metadata, uid: UID, generation: 1, ...more }, ...rest };
}

const LABELS = { [KUBE_LABEL.requester]: "rome", [KUBE_LABEL.target]: "paris" };

/** A person's object that says all there is to say. */
function told(reservation: Booked, more: Partial<Reservation["metadata"]> = {}): Reservation {
  const object = persons({ finalizers: FINALIZERS, labels: LABELS, ...more });
  const named = { ...object, spec: { ...object.spec, targetClusterID: "paris" } };
  const telling = { ledger: ledgerOf(), ledgerId: "led-1", now: NOW - 500 };
  return { ...named, status: reservationStatus(reservation, telling, named) };
}

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

function agents(more: Partial<Reservation["metadata"]> = {}): Reservation {
  const object = agentsWish("k1");
  return { ...object, metadata: { ...object.metadata, uid: UID, generation: 1, ...more } };
}

const live = booked(PERSONS_ID);
/** Made over HTTP with the same key. */
const other = booked(AGENTS_ID, {
  key: "k1",
  granted: resourceVector({ cpuMillis: 4000, memoryBytes: 2 ** 30 }),
});
const answered = (ms: number) => new Date(NOW - ms).toISOString();

const STEPS: readonly (readonly [string, Case, string])[] = [
  ["a new request is held before it is decided", { object: persons() }, "hold"],
  ["a held request is decided", { object: persons({ finalizers: FINALIZERS }) }, "decide"],
  [
    "a request that is Pending is decided, too",
    { object: persons({ finalizers: FINALIZERS }, { status: { phase: "Pending" } }) },
    "decide",
  ],
  [
    "a booked request whose status was never written gets what was booked, whatever it was edited to",
    {
      object: persons({ finalizers: FINALIZERS }, { spec: { ...wish("mine").spec, duration: "9h" } }),
      ledger: [live],
    },
    "name-parties",
  ],
  [
    "an agent's booked request whose status was never written gets what was booked",
    { object: agents({ finalizers: FINALIZERS }), ledger: [booked(AGENTS_ID, { key: "k1" })] },
    "name-parties",
  ],
  [
    "an agent's request whose key made another reservation is decided, and so refused",
    { object: agents({ finalizers: FINALIZERS }), ledger: [other] },
    "decide",
  ],
  [
    "an agent's request whose key made a reservation that ended is decided: its key may be closed",
    { object: agents({ finalizers: FINALIZERS }), ledger: [booked(AGENTS_ID, RELEASED)] },
    "decide",
  ],
  [
    "a live reservation whose object was edited to be refused is held on to",
    {
      object: { ...told(live, { finalizers: [] }), status: { phase: "Failed", reason: "NoCapacity" } },
      ledger: [live],
    },
    "hold",
  ],
  [
    "a deleted copy of an agent's object under another name releases nothing",
    {
      object: agents({ name: "copy", finalizers: FINALIZERS, deletionTimestamp: DELETED }),
      ledger: [booked(AGENTS_ID, { key: "k1" })],
    },
    "let-go",
  ],
  [
    "a deleted object that was refused because its key is taken releases nothing",
    {
      object: {
        ...agents({ finalizers: FINALIZERS, deletionTimestamp: DELETED }),
        status: { phase: "Failed", reason: "Invalid", code: "key-mismatch" },
      },
      ledger: [other],
    },
    "let-go",
  ],
  [
    "a request that cannot be read is refused",
    {
      object: persons(
        {},
        { spec: { requesterID: "rome", requestedResources: { cpu: "0.5", memory: "1Gi", gpu: "0.5" } } },
      ),
    },
    "refuse",
  ],
  [
    "an agent's request of another name than its key makes is refused",
    { object: { ...agentsWish("k1"), metadata: { name: "other", namespace: "broker" } } },
    "refuse",
  ],
  [
    "what the ledger says is told",
    { object: { ...told(live), status: { phase: "Reserved" } }, ledger: [live] },
    "tell",
  ],
  ["what is told already is left alone", { object: told(live), ledger: [live] }, "rest"],
  [
    "labels that somebody took off are put back",
    { object: told(live, { labels: {} }), ledger: [live] },
    "name-parties",
  ],
  [
    "a finalizer that somebody took off is put back while it is live",
    { object: told(live, { finalizers: [] }), ledger: [live] },
    "hold",
  ],
  [
    "the end of a reservation lets its object go",
    { object: told(live), ledger: [booked(PERSONS_ID, RELEASED)] },
    "let-go",
  ],
  [
    "the end of a reservation is told",
    { object: told(live, { finalizers: [] }), ledger: [booked(PERSONS_ID, RELEASED)] },
    "tell",
  ],
  [
    "a deleted object releases what it holds",
    { object: told(live, { deletionTimestamp: DELETED }), ledger: [live] },
    "release-deleted",
  ],
  [
    "a deleted object whose reservation has ended is let go",
    { object: told(live, { deletionTimestamp: DELETED }), ledger: [booked(PERSONS_ID, RELEASED)] },
    "let-go",
  ],
  [
    "a deleted object that was never decided is let go",
    { object: persons({ finalizers: FINALIZERS, deletionTimestamp: DELETED }) },
    "let-go",
  ],
  [
    "a deleted object that others hold is theirs",
    { object: persons({ finalizers: ["x.y/z"], deletionTimestamp: DELETED }) },
    "rest",
  ],
  [
    "a granted object that the ledger does not know is an orphan, and not decided",
    { object: told(live), ledger: [] },
    "tell",
  ],
  [
    "a person's ended object stays",
    { object: persons({}, { status: { phase: "Released", lastUpdateTime: answered(2 * DAY) } }) },
    "rest",
  ],
  [
    "an agent's ended object is deleted after a day",
    { object: { ...agentsWish("k1"), status: { phase: "Released", lastUpdateTime: answered(DAY) } } },
    "delete",
  ],
  [
    "an agent's ended object is kept for a day",
    { object: { ...agentsWish("k1"), status: { phase: "Released", lastUpdateTime: answered(DAY - 1) } } },
    "rest",
  ],
  [
    "a refused request lets its object go",
    {
      object: persons(
        { finalizers: FINALIZERS },
        { status: { phase: "Failed", reason: "NoCapacity", code: "no-capacity" } },
      ),
    },
    "let-go",
  ],
  [
    "a request refused because its key is taken never shows the other one's reservation",
    {
      object: { ...agentsWish("k1"), status: { phase: "Failed", reason: "Invalid", code: "key-mismatch" } },
      ledger: [other],
    },
    "rest",
  ],
  [
    "a request refused because its key is taken makes room for a view of the other after ten minutes",
    {
      object: {
        ...agentsWish("k1"),
        status: { phase: "Failed", reason: "Invalid", lastUpdateTime: answered(600_000) },
      },
      ledger: [other],
    },
    "delete",
  ],
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
  [
    "a view that is deleted releases nothing",
    {
      object: {
        ...told(live),
        metadata: { name: PERSONS_ID, labels: { [KUBE_LABEL.view]: "true" }, deletionTimestamp: DELETED },
      },
      ledger: [live],
    },
    "rest",
  ],
  [
    "a view that the ledger does not know is not decided",
    { object: { ...persons(), metadata: { name: PERSONS_ID, labels: { [KUBE_LABEL.view]: "true" } } } },
    "rest",
  ],
  ["a quote is answered", { object: wish("q", { intent: "Quote" }) }, "quote"],
  [
    "a quote that cannot be read is answered so",
    { object: wish("q", { intent: "Quote", requestedResources: { cpu: "1", memory: "1Gi", gpu: "0.1" } }) },
    "tell",
  ],
  [
    "an answered quote is kept for its maker",
    {
      object: {
        ...wish("q", { intent: "Quote" }),
        status: { fits: true, lastUpdateTime: answered(599_999) },
      },
    },
    "rest",
  ],
  [
    "an answered quote is deleted after ten minutes",
    {
      object: {
        ...wish("q", { intent: "Quote" }),
        status: { fits: false, lastUpdateTime: answered(600_000) },
      },
    },
    "delete",
  ],
  ["a release by key closes the key", { object: agentsWish("k1", { intent: "Release" }) }, "close-key"],
  [
    "a release by key of a wrong name is refused",
    { object: wish("other", { intent: "Release", key: "k1" }) },
    "tell",
  ],
  [
    "a release by key is told again to a ledger that lost its memory",
    {
      object: {
        ...agentsWish("k1", { intent: "Release" }),
        status: { phase: "Released", ledgerID: "led-0", lastUpdateTime: answered(5) },
      },
    },
    "close-key",
  ],
  [
    "an answered release by key is kept for a day",
    {
      object: {
        ...agentsWish("k1", { intent: "Release" }),
        status: { phase: "Released", ledgerID: "led-1", lastUpdateTime: answered(5) },
      },
      closedKeys: ["k1"],
    },
    "rest",
  ],
  [
    "a release by key is told again to a ledger that was restored from an older backup",
    {
      object: {
        ...agentsWish("k1", { intent: "Release" }),
        status: { phase: "Released", ledgerID: "led-1", lastUpdateTime: answered(5) },
      },
    },
    "close-key",
  ],
  [
    "an answered release by key is deleted after a day",
    {
      object: {
        ...agentsWish("k1", { intent: "Release" }),
        status: { phase: "Released", ledgerID: "led-1", lastUpdateTime: answered(DAY) },
      },
    },
    "delete",
  ],
  ["an offer is put before the ledger", { object: offer() }, "offer"],
  [
    "an offer that waits is left alone",
    { object: { ...offer(), status: { outcome: "waiting" } }, isOffered: true },
    "rest",
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
      ledger: [booked("rsv-rome-abcdefghijklmnop")],
      isOffered: true,
    },
    "offer",
  ],
  ["an offer of a wrong name is refused", { object: { ...offer(), metadata: { name: "other" } } }, "tell"],
  [
    "an offer that was adopted is deleted after ten minutes",
    { object: { ...offer(), status: { outcome: "adopted", lastUpdateTime: answered(600_000) } } },
    "delete",
  ],
];

function offer(): Reservation {
  return wish("rsv-rome-abcdefghijklmnop-offer-paris", {
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

describe("what is done about a Reservation:", () => {
  test.each(STEPS)("%s", (_, state, expected) => {
    const step = plan(state);
    expect(step.kind === "submit" ? `submit ${step.command.kind}` : step.kind).toBe(expected);
  });

  test("an orphan keeps what was said of it, and says that nobody knows it", () => {
    const step = plan({ object: told(live) });
    if (step.kind !== "tell") throw new Error(step.kind);
    const { phase, reservationID, conditions = [] } = step.status;
    expect({ phase, reservationID }).toEqual({ phase: "Reserved", reservationID: PERSONS_ID });
    expect(conditions.map(({ type, status }) => `${type}=${status}`)).toEqual([
      "Orphaned=True",
      "Reserved=Unknown",
      "Ready=False",
    ]);
  });

  test("a renewal that is no duration says what is wrong with it", () => {
    const step = plan({ object: wishing(told(live), "soon a"), ledger: [live] });
    expect(step).toMatchObject({
      kind: "renew",
      wish: { text: "soon a", problem: expect.stringContaining("soon") },
    });
  });

  test("a request of nobody is made in the name of nobody", () => {
    const spec = { requestedResources: { cpu: "1", memory: "1Gi" } };
    const object = persons({}, { spec });
    const id = reservationNameFor("nobody", UID);
    const status = { phase: "Reserved" } as const;
    const known = booked(id, { requester: "nobody" });
    expect(plan({ object: { ...object, status }, ledger: [known] }).kind).toBe("hold");
  });
});
