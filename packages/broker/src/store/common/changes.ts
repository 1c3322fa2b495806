import {
  type AdoptionWindow,
  apply,
  type ClosedDay,
  type ClosedKey,
  type Decision,
  isSoft,
  type LedgerEvent,
  ledgerFrom,
  type Member,
  memberIn,
  type Reservation,
  type ReservationId,
  type Waiting,
} from "@resource-broker/domain";
import { type CommitBatch, StoreFailure } from "../store.ts";
import {
  ADOPTION,
  ADVERTISEMENT,
  type Cells,
  CLOSED_DAY,
  CLOSED_KEY,
  CORDON,
  type CordonedCluster,
  closedKeyName,
  DECISION,
  MEMBER,
  RESERVATION,
  type RecordTable,
  type TableShape,
  WAITING,
} from "./record-tables.ts";

/** Reservations and waiting requests as a batch leaves them; undefined: no longer there. */
export interface ChangedRequests {
  readonly reservations: ReadonlyMap<ReservationId, Reservation | undefined>;
  readonly waiting: ReadonlyMap<ReservationId, Waiting | undefined>;
}

/** Finds what is stored. */
export interface StoredRequests {
  readonly reservation: (id: ReservationId) => Reservation | undefined;
  readonly waiting: (id: ReservationId) => Waiting | undefined;
}

/** Throws unless the batch follows the last stored commit. */
export function requireNext({ number }: CommitBatch, lastCommit: number): void {
  if (number === lastCommit + 1) return;
  throw new StoreFailure("not-committed", `commit ${number} cannot follow commit ${lastCommit}`);
}

/** What must survive, in the order it happened. */
export function durableEvents(batch: CommitBatch): LedgerEvent[] {
  return batch.entries.flatMap(({ events }) => events.filter((event) => !isSoft(event)));
}

/** The time of the latest event; the ledger's time is never set back. */
export function latestOf(events: readonly LedgerEvent[]): number {
  return events.reduce((latest, { at }) => Math.max(latest, at), 0);
}

export function decisionOf(event: LedgerEvent): Decision | undefined {
  return "decision" in event ? event.decision : undefined;
}

/**
 * Returns the requests as the events leave them. New ones are taken as they are. All other events go through the ledger's own
 * `apply` on a small ledger with only the affected requests, so that stored rows cannot differ from the live ledger. Throws a
 * StoreFailure if the events contradict what is stored.
 */
export function requestsAfter(events: readonly LedgerEvent[], stored: StoredRequests): ChangedRequests {
  const reservations = new Map<ReservationId, Reservation | undefined>();
  const waiting = new Map<ReservationId, Waiting | undefined>();
  let areAllNew = true;
  for (const event of events) {
    if (event.kind === "granted" || event.kind === "adopted") {
      reservations.set(event.reservation.id, event.reservation);
      if (mayHaveWaited(event)) waiting.set(event.reservation.id, undefined);
    } else if (event.kind === "queued") waiting.set(event.waiting.id, event.waiting);
    else areAllNew &&= !("id" in event);
  }
  if (areAllNew) return { reservations, waiting };
  try {
    return applyEvents(events, stored);
  } catch (cause) {
    throw new StoreFailure("corrupt", `the batch contradicts what is stored: ${String(cause)}`, { cause });
  }
}

/**
 * True: the reservation may take the place of a waiting request with its ID. A newcomer is granted with generation 1, and a
 * waiting request with a higher one than its own, which begins at 1: so that grants of newcomers never touch the waiting
 * requests. A cluster may have asked again for what its provider still holds, and waits for it when it is adopted.
 */
function mayHaveWaited({ kind, reservation }: NewReservation): boolean {
  return kind === "adopted" || reservation.generation > 1;
}

type NewReservation = Extract<LedgerEvent, { readonly kind: "granted" | "adopted" }>;

const NOTHING_ELSE = {
  closedDays: [],
  closedKeys: [],
  cordons: [],
  members: [],
  advertisements: [],
  time: 0,
};

function applyEvents(events: readonly LedgerEvent[], stored: StoredRequests): ChangedRequests {
  const load = requestsToLoad(events);
  const found = {
    reservations: load.reservations.flatMap((id) => stored.reservation(id) ?? []),
    waiting: load.waiting.flatMap((id) => stored.waiting(id) ?? []),
  };
  const ledger = ledgerFrom({ ...NOTHING_ELSE, ...found }, 0);
  const reservations = new Map<ReservationId, Reservation | undefined>();
  const waiting = new Map<ReservationId, Waiting | undefined>();
  for (const event of events) {
    const touched = touchedBy(event, (id) => ledger.reservations.has(id));
    apply(ledger, event);
    if (touched.reservation !== undefined)
      reservations.set(touched.reservation, ledger.reservations.get(touched.reservation));
    if (touched.waiting !== undefined) waiting.set(touched.waiting, ledger.waiting.byId.get(touched.waiting));
  }
  return { reservations, waiting };
}

/** The requests that must be known before these events can be applied: those they change and do not bring along. */
export function requestsToLoad(
  events: readonly LedgerEvent[],
): Record<"reservations" | "waiting", ReservationId[]> {
  const [reservations, waiting] = [new Map<ReservationId, boolean>(), new Map<ReservationId, boolean>()];
  for (const event of events) {
    const isBrought = event.kind === "granted" || event.kind === "adopted" || event.kind === "queued";
    // A waiting request that is forgotten is removed, whatever it is.
    const touched = touchedBy(event, () => true);
    if (touched.reservation !== undefined && !reservations.has(touched.reservation))
      reservations.set(touched.reservation, isBrought);
    if (touched.waiting !== undefined && !waiting.has(touched.waiting))
      waiting.set(touched.waiting, isBrought);
  }
  return { reservations: notBrought(reservations), waiting: notBrought(waiting) };
}

function notBrought(ids: ReadonlyMap<ReservationId, boolean>): ReservationId[] {
  return [...ids].flatMap(([id, isBrought]) => (isBrought ? [] : id));
}

/** The requests that an event changes. */
interface Touched {
  readonly reservation?: ReservationId;
  readonly waiting?: ReservationId;
}

function touchedBy(event: LedgerEvent, isReservation: (id: ReservationId) => boolean): Touched {
  if (event.kind === "queued") return { waiting: event.waiting.id };
  if (event.kind === "granted" || event.kind === "adopted") {
    const { id } = event.reservation;
    return mayHaveWaited(event) ? { reservation: id, waiting: id } : { reservation: id };
  }
  if (!("id" in event)) return {};
  switch (event.kind) {
    case "unqueued":
    case "nominated":
    case "nomination-lapsed":
      return { waiting: event.id };
    case "activated":
    case "renewed":
    case "acknowledged":
    case "ended":
    case "retained":
    case "preempting":
    case "reprieved":
    case "resumed":
      return { reservation: event.id };
    case "forgotten":
      // No ID is ever both.
      return isReservation(event.id) ? { reservation: event.id } : { waiting: event.id };
    case "adoption-withdrawn":
      return {};
  }
}

/** What a batch does to a table of a SQL store. Rows are removed first: a row may be removed and put back. */
export interface TableChange {
  readonly shape: TableShape;
  /** Names of rows. */
  readonly remove: readonly string[];
  /** Of each row only its last state: no row is written twice. */
  readonly put: readonly Cells[];
}

/** What a batch does to the tables of a SQL store. Throws a StoreFailure if it contradicts what is stored. */
export function tableChanges(batch: CommitBatch, stored: StoredRequests): TableChange[] {
  const events = durableEvents(batch);
  const closedKeys = new Map<string, ClosedKey | undefined>();
  const cordons = new Map<string, CordonedCluster | undefined>();
  const adoption = new Map<string, AdoptionWindow>();
  const members = new Map<string, Member>();
  const decisions = new Map<string, Decision>();
  for (const event of events) {
    if (event.kind === "key-closed") closedKeys.set(closedKeyName(event.closedKey), event.closedKey);
    if (event.kind === "key-reopened") closedKeys.set(closedKeyName(event), undefined);
    if (event.kind === "cordoned")
      cordons.set(event.clusterId, { clusterId: event.clusterId, cordon: event.cordon });
    if (event.kind === "uncordoned") cordons.set(event.clusterId, undefined);
    if (event.kind === "adoption-window-set") adoption.set(event.kind, event.window);
    const member = memberIn(event);
    if (member !== undefined) members.set(member.clusterId, member);
    const decision = decisionOf(event);
    if (decision !== undefined) decisions.set(decision.id, decision);
  }
  const { advertisements = [] } = batch;
  const { reservations, waiting } = requestsAfter(events, stored);
  return [
    changeOf(RESERVATION, reservations),
    changeOf(WAITING, waiting),
    changeOf(CLOSED_DAY, closedDaysAfter(events)),
    changeOf(CLOSED_KEY, closedKeys),
    changeOf(CORDON, cordons),
    changeOf(ADOPTION, adoption),
    changeOf(MEMBER, members),
    // A committed advertisement replaces any other. Only those that are written behind may be late.
    {
      ...additionOf(ADVERTISEMENT, advertisements),
      remove: advertisements.map(({ advertisement }) => advertisement.clusterId),
    },
    changeOf(DECISION, decisions),
  ];
}

function closedDaysAfter(events: readonly LedgerEvent[]): ReadonlyMap<string, ClosedDay | undefined> {
  const closedDays = new Map<string, ClosedDay | undefined>();
  for (const event of events) {
    if (event.kind !== "day-closed") continue;
    for (const day of event.forgets) closedDays.set(String(day), undefined);
    closedDays.set(String(event.closedDay.day), event.closedDay);
  }
  return closedDays;
}

function changeOf<T>(mapping: RecordTable<T>, states: ReadonlyMap<string, T | undefined>): TableChange {
  const remove = [...states].flatMap(([name, value]) => (value === undefined ? name : []));
  const kept = [...states.values()].filter((value) => value !== undefined);
  return { ...additionOf(mapping, kept), remove };
}

/** Puts these values, and removes nothing. */
export function additionOf<T>(mapping: RecordTable<T>, values: readonly T[]): TableChange {
  return { shape: mapping, remove: [], put: values.map(mapping.cells) };
}
