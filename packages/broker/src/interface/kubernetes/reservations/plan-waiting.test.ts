import { KUBE_LABEL, type Reservation } from "@resource-broker/contract/crd";
import {
  type Reservation as Booked,
  DEFAULT_POLICY,
  type QueuePlace,
  type Waiting,
  type WaitingReason,
} from "@resource-broker/domain";
import { describe, expect, test } from "vitest";
import { waitingStatus } from "../builders/reservation-status.ts";
import {
  AGENTS_ID,
  agents,
  booked,
  DELETED,
  HELD,
  NOW,
  nameOfPlan,
  PERSONS_ID,
  type PlanOptions,
  persons,
  plan,
  withSignal,
} from "./testing/plan-case.ts";

const MINUTE = 60_000;
const GRANTED = { labels: { [KUBE_LABEL.target]: "paris" } };
const WAIT = { wait: { for: "4h" } };

function waits(id: string, more: Partial<Waiting> = {}): Waiting {
  const { request } = booked(id);
  const times = { createdAt: NOW - MINUTE, since: NOW - MINUTE, until: NOW + MINUTE };
  return {
    id,
    requester: "rome",
    request,
    key: "k1",
    protocol: 3,
    phase: "Pending",
    generation: 1,
    ...times,
    ...more,
  };
}
const own = waits(PERSONS_ID);
const agentsOwn = waits(AGENTS_ID);
const left = waits(PERSONS_ID, { phase: "Failed", reason: "WaitTimeout", endedAt: NOW, generation: 2 });
const released = waits(AGENTS_ID, {
  phase: "Released",
  reason: "ReleasedByAdmin",
  endedAt: NOW,
  generation: 2,
});

function placeOf(
  position: number,
  more: { reason?: WaitingReason; nominatedTo?: string; at?: number } = {},
): QueuePlace {
  const { reason = "Capacity", nominatedTo, at } = more;
  return {
    entry: own,
    tenant: "rome",
    share: 0,
    position,
    of: 9,
    reason,
    ...(nominatedTo === undefined ? {} : { nominatedTo }),
    ...(at === undefined ? {} : { expectedStart: at }),
  };
}

interface Shown {
  /** How long ago the status was written. */
  readonly agoMs?: number;
  readonly place?: QueuePlace;
  readonly metadata?: Partial<Reservation["metadata"]>;
  readonly ledgerId?: string;
}

/** An object that says that its request waits, or how it left the queue. */
function shown(
  entry: Waiting,
  { agoMs = MINUTE, place, metadata = {}, ledgerId = "led-1" }: Shown = {},
): Reservation {
  const object =
    entry.id === PERSONS_ID ? persons({ ...HELD, ...metadata }) : agents({ ...HELD, ...metadata }, WAIT);
  const context = { policy: DEFAULT_POLICY, place, ledgerId, now: NOW - agoMs };
  return { ...object, status: waitingStatus(entry, context, object) };
}

/** Beside what is done, whether it calls the object an orphan. */
function nameOf(object: Reservation, options: PlanOptions): string {
  const isOrphan = JSON.stringify(plan(object, [], options)).includes("Orphaned");
  return isOrphan ? `${nameOfPlan(object, [], options)} orphan` : nameOfPlan(object, [], options);
}

type Row = readonly [string, Reservation, readonly Waiting[], string, PlanOptions?];

const granted: Booked = booked(PERSONS_ID, { generation: 2 });
const grantedAgents: Booked = booked(AGENTS_ID, { key: "k1", generation: 2 });
const ended: Booked = { ...grantedAgents, phase: "Released", reason: "ActivationTimeout", endedAt: NOW };

const ROWS: readonly Row[] = [
  ["a request that waits says so", persons(HELD), [own], "write-status"],
  ["a request that waits is held, so that its deletion is seen", persons(), [own], "add-finalizer"],
  [
    "an agent's request whose status was never written says that it waits",
    agents(HELD, WAIT),
    [agentsOwn],
    "write-status",
  ],
  [
    "an object that does not wait does not follow a request of the same key",
    agents(HELD),
    [agentsOwn],
    "decide",
  ],
  [
    "an object that asks for something else does not follow a request of the same key",
    agents(HELD, { ...WAIT, priority: 99 }),
    [agentsOwn],
    "decide",
  ],
  ["what waits is left alone", shown(own), [own], "done"],
  ["a request that waits and that the ledger does not know is decided again", shown(own), [], "decide"],
  [
    "one that waited for another ledger says what this one knows",
    shown(own, { ledgerId: "led-0" }),
    [own],
    "write-status",
  ],
  [
    "a status that was edited is the broker's again",
    { ...shown(agentsOwn), status: { phase: "Active" } },
    [agentsOwn],
    "write-status",
  ],
  [
    "one that was granted before the ledger was restored is an orphan, and is not called waiting",
    { ...shown(agentsOwn, { metadata: GRANTED }), status: { phase: "Active", reservationID: AGENTS_ID } },
    [agentsOwn],
    "write-status orphan",
  ],
  ["a deleted request leaves the queue", shown(own, { metadata: DELETED }), [own], "release-deleted"],
  [
    "a deleted request that has left the queue is let go",
    shown(own, { metadata: DELETED }),
    [left],
    "remove-finalizer",
  ],
  [
    "a deleted copy under another name leaves the queue alone",
    { ...shown(agentsOwn), metadata: { name: "copy", ...HELD, ...DELETED } },
    [agentsOwn],
    "remove-finalizer",
  ],
  [
    "RequesterReleased leaves the queue",
    withSignal(shown(own), "requesterReleased"),
    [own],
    "submit release",
  ],
  ["RequesterActive says nothing of what waits", withSignal(shown(own), "requesterActive"), [own], "done"],
  ["who has left the queue is let go", shown(own), [left], "remove-finalizer"],
  ["how it left the queue is told", shown(own, { metadata: { finalizers: [] } }), [left], "write-status"],
  [
    "an agent's that was released is told so, and not decided",
    shown(agentsOwn, { metadata: { finalizers: [] } }),
    [released],
    "write-status",
  ],
  ["who was told is left alone", shown(left, { metadata: { finalizers: [] } }), [left], "done"],
];

const PLACES: readonly Row[] = [
  ["the first place is told at once", shown(own, { agoMs: 0 }), [own], "write-status", { place: placeOf(8) }],
  [
    "a place a little further on is not",
    shown(own, { place: placeOf(8) }),
    [own],
    "done",
    { place: placeOf(5) },
  ],
  [
    "half of the position is told",
    shown(own, { place: placeOf(8) }),
    [own],
    "write-status",
    { place: placeOf(4) },
  ],
  [
    "but not twice within a minute",
    shown(own, { place: placeOf(8), agoMs: MINUTE - 1 }),
    [own],
    "done",
    { place: placeOf(4) },
  ],
  [
    "a time in the future does not silence it",
    shown(own, { place: placeOf(8), agoMs: -1 }),
    [own],
    "write-status",
    { place: placeOf(4) },
  ],
  [
    "another reason is told",
    shown(own, { place: placeOf(8) }),
    [own],
    "write-status",
    { place: placeOf(8, { reason: "Quota" }) },
  ],
  [
    "a nomination is told",
    shown(own, { place: placeOf(8) }),
    [own],
    "write-status",
    { place: placeOf(8, { nominatedTo: "paris" }) },
  ],
  [
    "an earlier start is told",
    shown(own, { place: placeOf(8, { at: NOW + 2 }) }),
    [own],
    "write-status",
    { place: placeOf(8, { at: NOW + 1 }) },
  ],
  [
    "a later start is not",
    shown(own, { place: placeOf(8, { at: NOW + 1 }) }),
    [own],
    "done",
    { place: placeOf(8, { at: NOW + 2 }) },
  ],
];

test("a request in the place of a preempted reservation says since when it waits", () => {
  expect(shown(own).status?.since).toBeUndefined();
  const resumed = waits(PERSONS_ID, { since: NOW - 5 * MINUTE });
  expect(shown(resumed).status?.since).toBe(new Date(NOW - 5 * MINUTE).toISOString());
});

describe("what is done about a Reservation that waits:", () => {
  const rows = [...ROWS, ...PLACES].map((row) => [row[0], row] as const);
  test.each(rows)("%s", (_, [, object, waiting, expected, options = {}]) => {
    expect(nameOf(object, { ...options, waiting })).toBe(expected);
  });

  test("a place is no answer: it is written at the rate of views", () => {
    expect(plan(shown(own), [], { waiting: [own], place: placeOf(8) }).kind).toBe("show");
    expect(plan(persons(HELD), [], { waiting: [own] }).kind).toBe("answer");
  });

  test("the same object gets its grant: first the target, then the phase", () => {
    expect(plan(shown(own), [granted])).toMatchObject({
      write: { name: "set-parties", change: { spec: { targetClusterID: "paris" } } },
    });
    const named = { ...shown(agentsOwn), metadata: { ...shown(agentsOwn).metadata, finalizers: [] } };
    expect(nameOfPlan(named, [grantedAgents])).toBe("add-finalizer");
    expect(plan(named, [ended])).toMatchObject({
      write: { status: { phase: "Released", reason: "ActivationTimeout" } },
    });
  });

  test("it has no target, and says why it waits, for whom, and how long", () => {
    const place = placeOf(2, { at: NOW + MINUTE, nominatedTo: "paris" });
    const step = plan(shown(own), [], { waiting: [own], place });
    expect(step).toMatchObject({
      write: {
        status: {
          phase: "Pending",
          reservationID: PERSONS_ID,
          tenant: "rome",
          until: new Date(own.until).toISOString(),
          generation: 1,
          queue: { position: 2, of: 9, place: "2/9", reason: "Capacity", nominatedTo: "paris" },
          conditions: [
            { type: "Reserved", status: "False", reason: "Queued" },
            { type: "Ready", status: "False", reason: "Queued" },
            { type: "Queued", status: "True", reason: "Capacity" },
          ],
        },
      },
    });
    expect(JSON.stringify(step)).toContain("no cluster that suits it has room");
    expect(JSON.stringify(step)).not.toContain("targetClusterID");
  });

  test("one that waited too long has failed, and says so", () => {
    const conditions: unknown = expect.arrayContaining([
      expect.objectContaining({ type: "Queued", status: "False", reason: "WaitTimeout" }),
    ]);
    const object = shown(own, { metadata: { finalizers: [] } });
    expect(plan(object, [], { waiting: [left] })).toMatchObject({
      write: { status: { phase: "Failed", reason: "WaitTimeout", conditions } },
    });
  });

  test("how long it may wait, and for whom, is read from the object", () => {
    const spec = { wait: { for: "4h" }, namespace: "ml", resumes: "rsv-rome-before" };
    expect(plan(agents(HELD, spec))).toMatchObject({
      call: {
        kind: "decide",
        asked: { wait: { forMs: 4 * 60 * MINUTE }, namespace: "ml", resumes: "rsv-rome-before", protocol: 3 },
      },
    });
    expect(plan(agents(HELD, { wait: {} }))).toMatchObject({ call: { asked: { wait: {}, protocol: 3 } } });
    expect(plan(agents(HELD))).not.toHaveProperty("call.asked.wait");
    expect(plan(agents(HELD))).not.toHaveProperty("call.asked.protocol");
  });
});
