import type { Reservation } from "@resource-broker/contract/crd";
import type { Reservation as Booked } from "@resource-broker/domain";
import { describe, expect, test } from "vitest";
import { personsReservation } from "../testing/samples.ts";
import {
  AGENTS_ID,
  active,
  agents,
  answered,
  asView,
  booked,
  DELETED,
  HELD,
  live,
  NOBODYS_ID,
  NOW,
  nameOfPlan,
  other,
  over,
  PERSONS_ID,
  type PlanOptions,
  persons,
  plan,
  shown,
  withRenewal,
  withSignal,
} from "./testing/plan-case.ts";

const DAY = 24 * 60 * 60 * 1000;
const TEN_MINUTES = 600_000;
const KEY_TAKEN = { phase: "Failed", reason: "Invalid", code: "key-mismatch" } as const;
const HALF_A_GPU = { requestedResources: { cpu: "0.5", memory: "1Gi", gpu: "0.5" } };
/** The same under notice: an urgent request of oslo waits for it. */
const noticed: Booked = { ...live, preemption: { by: "rsv-oslo-urgent", priority: 50, at: NOW + 300_000 } };

/** What is so, the object, the ledger, and the step that follows. */
type Row = readonly [string, Reservation, readonly Booked[], string, PlanOptions?];

const REQUESTS: readonly Row[] = [
  ["a new request is held before it is decided", persons(), [], "add-finalizer"],
  ["a held request is decided", persons(HELD), [], "decide"],
  ["a request that is Pending is decided", persons(HELD, { status: { phase: "Pending" } }), [], "decide"],
  [
    "a booked request whose status was never written gets what was booked, whatever it was edited to",
    persons(HELD, { spec: { ...personsReservation("mine").spec, duration: "9h" } }),
    [live],
    "set-parties",
  ],
  [
    "an agent's booked request whose status was never written gets what was booked",
    agents(HELD),
    [booked(AGENTS_ID, { key: "k1" })],
    "set-parties",
  ],
  [
    "an agent's request whose key made another reservation is decided, and so refused",
    agents(HELD),
    [other],
    "decide",
  ],
  [
    "an agent's request whose key made a reservation that ended is decided: its key may be closed",
    agents(HELD),
    [{ ...over, id: AGENTS_ID }],
    "decide",
  ],
  [
    "a live reservation whose object was edited to be refused is held on to",
    { ...shown(live, { finalizers: [] }), status: { phase: "Failed", reason: "NoCapacity" } },
    [live],
    "add-finalizer",
  ],
  [
    "a request that cannot be read is refused",
    persons({}, { spec: { requesterID: "rome", ...HALF_A_GPU } }),
    [],
    "refuse",
  ],
  [
    "an agent's request of another name than its key makes is refused",
    agents({ name: "other" }),
    [],
    "refuse",
  ],
  ["what the ledger says is told", { ...shown(live), status: { phase: "Reserved" } }, [live], "write-status"],
  ["a notice is told", shown(live), [noticed], "write-status"],
  ["a notice that was withdrawn is told no more", shown(noticed), [live], "write-status"],
  ["what is told already is left alone", shown(live), [live], "done"],
  ["labels that somebody took off are put back", shown(live, { labels: {} }), [live], "set-parties"],
  [
    "a finalizer that somebody took off is put back while it is live",
    shown(live, { finalizers: [] }),
    [live],
    "add-finalizer",
  ],
  [
    "a granted object that the ledger does not know is an orphan, and not decided",
    shown(live),
    [],
    "write-status",
  ],
  ["a view that the ledger does not know is not decided", asView(persons()), [], "done"],
];

const ENDS: readonly Row[] = [
  ["the end of a reservation lets its object go", shown(live), [over], "remove-finalizer"],
  ["the end of a reservation is told", shown(live, { finalizers: [] }), [over], "write-status"],
  ["a deleted object releases what it holds", shown(live, DELETED), [live], "release-deleted"],
  [
    "a deleted object whose reservation has ended is let go",
    shown(live, DELETED),
    [over],
    "remove-finalizer",
  ],
  [
    "a deleted object that was never decided is let go",
    persons({ ...HELD, ...DELETED }),
    [],
    "remove-finalizer",
  ],
  ["a deleted object that others hold is theirs", persons({ finalizers: ["x.y/z"], ...DELETED }), [], "done"],
  [
    "a deleted copy of an agent's object under another name releases nothing",
    agents({ name: "copy", ...HELD, ...DELETED }),
    [booked(AGENTS_ID, { key: "k1" })],
    "remove-finalizer",
  ],
  [
    "a deleted object that was refused because its key is taken releases nothing",
    agents({ ...HELD, ...DELETED }, { status: KEY_TAKEN }),
    [other],
    "remove-finalizer",
  ],
  ["a view that is deleted releases nothing", asView(shown(live), DELETED), [live], "done"],
  [
    "a person's ended object stays",
    persons({}, { status: { phase: "Released", ...answered(2 * DAY) } }),
    [],
    "done",
  ],
  [
    "an agent's ended object is deleted after a day",
    agents({}, { status: { phase: "Released", ...answered(DAY) } }),
    [],
    "delete",
  ],
  [
    "an agent's ended object is kept for a day",
    agents({}, { status: { phase: "Released", ...answered(DAY - 1) } }),
    [],
    "done",
  ],
  [
    "a refused request lets its object go",
    agents(HELD, { status: { phase: "Failed", reason: "NoCapacity" } }),
    [],
    "remove-finalizer",
  ],
  [
    "a request refused because its key is taken never shows the other one's reservation",
    agents({}, { status: KEY_TAKEN }),
    [other],
    "done",
  ],
  [
    "a request refused because its key is taken makes room for a view of the other after ten minutes",
    agents({}, { status: { ...KEY_TAKEN, ...answered(TEN_MINUTES) } }),
    [other],
    "delete",
  ],
];

const acknowledged = booked(PERSONS_ID, { acknowledged: true });
const expired = booked(PERSONS_ID, { expiresAt: NOW });
const SIGNALS: readonly Row[] = [
  ["RequesterActive activates", withSignal(shown(live), "requesterActive"), [live], "submit activate"],
  [
    "RequesterActive says nothing new of an active one",
    withSignal(shown(active), "requesterActive"),
    [active],
    "done",
  ],
  [
    "RequesterReleased releases what is Reserved",
    withSignal(shown(live), "requesterReleased"),
    [live],
    "submit release",
  ],
  [
    "RequesterReleased releases what is Active",
    withSignal(shown(live), "requesterReleased"),
    [active],
    "submit release",
  ],
  [
    "RequesterReleased counts more than RequesterActive",
    withSignal(withSignal(shown(live), "requesterActive"), "requesterReleased"),
    [live],
    "submit release",
  ],
  [
    "a signal that is False says nothing",
    withSignal(shown(live), "requesterReleased", { status: "False" }),
    [live],
    "done",
  ],
  ["ProviderHolding acknowledges", withSignal(shown(live), "providerHolding"), [live], "submit acknowledge"],
  [
    "ProviderHolding says nothing new of what is acknowledged",
    withSignal(shown(acknowledged), "providerHolding"),
    [acknowledged],
    "done",
  ],
  [
    "ProviderHolding=False with the reason Refused refuses",
    withSignal(shown(live), "providerHolding", { status: "False", reason: "Refused" }),
    [live],
    "submit refuse",
  ],
  [
    "ProviderHolding=False with another reason says nothing",
    withSignal(shown(live), "providerHolding", { status: "False", reason: "Starting" }),
    [live],
    "done",
  ],
  ["a new renewal is carried out", withRenewal(shown(live), "1h a"), [live], "renew"],
  [
    "a renewal that was carried out is not repeated",
    withRenewal(shown(live), "1h a", "1h a"),
    [live],
    "done",
  ],
  [
    "nothing is said to a reservation that is over",
    withSignal(shown(expired), "requesterActive"),
    [expired],
    "done",
  ],
  ["a view's signals count", withSignal(asView(shown(live)), "requesterReleased"), [live], "submit release"],
];

const quote = (more: Partial<Reservation> = {}, resources = {}): Reservation => ({
  ...personsReservation("q", { intent: "Quote", ...resources }),
  ...more,
});
const release = (status?: Reservation["status"]): Reservation =>
  agents({}, { intent: "Release", ...(status === undefined ? {} : { status }) });
const closed = (ms: number, ledgerID = "led-1") =>
  ({ phase: "Released", ledgerID, ...answered(ms) }) as const;
const ADOPTED_ID = "rsv-rome-abcdefghijklmnop";
const offer = (more: Partial<Reservation> = {}): Reservation => ({
  ...personsReservation(`${ADOPTED_ID}-offer-paris`, {
    intent: "Adopt",
    targetClusterID: "paris",
    offer: { id: ADOPTED_ID, by: "paris", phase: "Active", generation: 3, createdAt: "2026-01-05T10:00:00Z" },
  }),
  ...more,
});
const waiting = offer({ status: { outcome: "waiting" } });
const INTENTS: readonly Row[] = [
  ["a quote is answered", quote(), [], "quote"],
  ["a quote that cannot be read is answered so", quote({}, HALF_A_GPU), [], "write-status"],
  [
    "an answered quote is kept for its maker",
    quote({ status: { fits: true, ...answered(TEN_MINUTES - 1) } }),
    [],
    "done",
  ],
  [
    "an answered quote is deleted after ten minutes",
    quote({ status: { fits: false, ...answered(TEN_MINUTES) } }),
    [],
    "delete",
  ],
  ["a release by key closes the key", release(), [], "close-key"],
  [
    "a release by key of a wrong name is refused",
    personsReservation("other", { intent: "Release", key: "k1" }),
    [],
    "write-status",
  ],
  [
    "a release by key is told again to a ledger that lost its memory",
    release(closed(5, "led-0")),
    [],
    "close-key",
  ],
  [
    "a release by key is told again to a ledger restored from an older backup",
    release(closed(5)),
    [],
    "close-key",
  ],
  ["an answered release by key is kept for a day", release(closed(5)), [], "done", { closedKeys: ["k1"] }],
  ["an answered release by key is deleted after a day", release(closed(DAY)), [], "delete"],
  ["an offer is put before the ledger", offer(), [], "offer"],
  ["an offer that waits is left alone", waiting, [], "done", { isOffered: true }],
  ["an offer that waits is put before the ledger by each new process", waiting, [], "offer"],
  [
    "an offer that waits is asked again when the ledger knows the hold",
    waiting,
    [booked(ADOPTED_ID)],
    "offer",
    { isOffered: true },
  ],
  ["an offer of a wrong name is refused", offer({ metadata: { name: "other" } }), [], "write-status"],
  [
    "an offer that was adopted is deleted after ten minutes",
    offer({ status: { outcome: "adopted", ...answered(TEN_MINUTES) } }),
    [],
    "delete",
  ],
];

describe("what is done about a Reservation:", () => {
  const rows = [...REQUESTS, ...ENDS, ...SIGNALS, ...INTENTS].map((row) => [row[0], row] as const);
  test.each(rows)("%s", (_, [, object, ledger, expected, options = {}]) => {
    expect(nameOfPlan(object, ledger, options)).toBe(expected);
  });

  test("a reservation under notice says when it ends and for which priority, not for whom", () => {
    const message = `ends at ${new Date(NOW + 300_000).toISOString()}: a waiting request of priority 50 needs its capacity`;
    const planned = plan(shown(live), [noticed]);
    const conditions: unknown = expect.arrayContaining([
      expect.objectContaining({ type: "Preempting", status: "True", reason: "Notice", message }),
    ]);
    expect(planned).toMatchObject({ write: { status: { conditions } } });
    expect(JSON.stringify(planned)).not.toContain("oslo");
  });

  test("a reservation under notice of a drain says that its provider is drained", () => {
    const drained = { ...noticed, preemption: { at: NOW + 300_000 } };
    const message = `ends at ${new Date(NOW + 300_000).toISOString()}: paris is drained`;
    const conditions: unknown = expect.arrayContaining([
      expect.objectContaining({ type: "Preempting", status: "True", reason: "Notice", message }),
    ]);
    expect(plan(shown(live), [drained])).toMatchObject({ write: { status: { conditions } } });
  });

  test("an orphan keeps what was said of it, and says that nobody knows it", () => {
    const conditions = [
      { type: "Orphaned", status: "True" },
      { type: "Reserved", status: "Unknown" },
      { type: "Ready", status: "False" },
    ];
    expect(plan(shown(live))).toMatchObject({
      write: { status: { phase: "Reserved", reservationID: PERSONS_ID, conditions } },
    });
  });

  test("a request of nobody is refused, and one that an older version granted stays", () => {
    const object = persons({}, { spec: { requestedResources: { cpu: "1", memory: "1Gi" } } });
    const message: unknown = expect.stringContaining("quotas.nobody");
    expect(plan(object)).toMatchObject({ write: { name: "refuse", status: { code: "invalid", message } } });
    expect(nameOfPlan(object, [], { mayBeUnnamed: true })).toBe("add-finalizer");
    const granted = { ...object, status: { phase: "Reserved" } as const };
    expect(nameOfPlan(granted, [booked(NOBODYS_ID, { requester: "nobody" })])).toBe("add-finalizer");
  });

  test("a renewal that is no duration says what is wrong with it", () => {
    const problem: unknown = expect.stringContaining("soon");
    expect(plan(withRenewal(shown(live), "soon a"), [live])).toMatchObject({
      call: { kind: "renew", renewal: { text: "soon a", problem } },
    });
  });
});
