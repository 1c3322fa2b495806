import {
  type AdoptionWindow,
  apply,
  type ClosedKey,
  type Decision,
  isSoft,
  type LedgerEvent,
  ledgerFrom,
  type Reservation,
  type ReservationId,
} from "@resource-broker/domain";
import { type CommitBatch, StoreFailure } from "../store.ts";
import {
  ADOPTION,
  ADVERTISEMENT,
  type Cells,
  CLOSED_KEY,
  CORDON,
  type CordonedCluster,
  closedKeyName,
  DECISION,
  RESERVATION,
  type RecordTable,
  type TableShape,
} from "./record-tables.ts";

/** Reservations as a batch leaves them; undefined: forgotten. */
export type ChangedReservations = ReadonlyMap<ReservationId, Reservation | undefined>;

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
  return event.kind === "granted" || event.kind === "refused" ? event.decision : undefined;
}

/**
 * Returns the reservations as the events leave them. New reservations are taken as they are. All other events go through
 * the ledger's own `apply` on a small ledger with only the affected reservations, so that stored rows cannot differ from
 * the live ledger. Throws a StoreFailure if the events contradict the stored reservations.
 */
export function reservationsAfter(
  events: readonly LedgerEvent[],
  find: (id: ReservationId) => Reservation | undefined,
): ChangedReservations {
  const changed = new Map<ReservationId, Reservation | undefined>();
  let areAllNew = true;
  for (const event of events) {
    if (event.kind === "granted" || event.kind === "adopted")
      changed.set(event.reservation.id, event.reservation);
    else areAllNew &&= reservationOf(event).id === undefined;
  }
  if (areAllNew) return changed;
  try {
    return applyEvents(events, find);
  } catch (cause) {
    throw new StoreFailure("corrupt", `the batch contradicts what is stored: ${String(cause)}`, { cause });
  }
}

function applyEvents(
  events: readonly LedgerEvent[],
  find: (id: ReservationId) => Reservation | undefined,
): ChangedReservations {
  const touched = new Set<ReservationId>();
  const stored = new Map<ReservationId, Reservation>();
  for (const event of events) {
    const { id, isNew } = reservationOf(event);
    if (id === undefined || touched.has(id)) continue;
    touched.add(id);
    const reservation = isNew ? undefined : find(id);
    if (reservation !== undefined) stored.set(id, reservation);
  }
  const none = { closedKeys: [], cordons: [], advertisements: [], time: 0 };
  const ledger = ledgerFrom({ reservations: [...stored.values()], ...none }, 0);
  for (const event of events) apply(ledger, event);
  return new Map([...touched].map((id) => [id, ledger.reservations.get(id)]));
}

/** The reservations that must be known before these events can be applied: those they change and do not bring along. */
export function reservationsToLoad(events: readonly LedgerEvent[]): ReservationId[] {
  const isNew = new Map<ReservationId, boolean>();
  for (const event of events) {
    const { id, isNew: isBrought = false } = reservationOf(event);
    if (id !== undefined && !isNew.has(id)) isNew.set(id, isBrought);
  }
  return [...isNew].filter(([, isBrought]) => !isBrought).map(([id]) => id);
}

/** The reservation an event is about, if any, and whether the event brings it along whole. */
function reservationOf(event: LedgerEvent): { readonly id?: ReservationId; readonly isNew?: true } {
  switch (event.kind) {
    case "granted":
    case "adopted":
      return { id: event.reservation.id, isNew: true };
    case "activated":
    case "renewed":
    case "acknowledged":
    case "ended":
    case "retained":
    case "forgotten":
      return { id: event.id };
    default:
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

/** What a batch does to the tables of a SQL store. Throws a StoreFailure if it contradicts the stored reservations. */
export function tableChanges(
  batch: CommitBatch,
  find: (id: ReservationId) => Reservation | undefined,
): TableChange[] {
  const events = durableEvents(batch);
  const closedKeys = new Map<string, ClosedKey | undefined>();
  const cordons = new Map<string, CordonedCluster | undefined>();
  const adoption = new Map<string, AdoptionWindow>();
  const decisions = new Map<string, Decision>();
  for (const event of events) {
    if (event.kind === "key-closed") closedKeys.set(closedKeyName(event.closedKey), event.closedKey);
    if (event.kind === "key-reopened") closedKeys.set(closedKeyName(event), undefined);
    if (event.kind === "cordoned")
      cordons.set(event.clusterId, { clusterId: event.clusterId, cordon: event.cordon });
    if (event.kind === "uncordoned") cordons.set(event.clusterId, undefined);
    if (event.kind === "adoption-window-set") adoption.set(event.kind, event.window);
    const decision = decisionOf(event);
    if (decision !== undefined) decisions.set(decision.id, decision);
  }
  const { advertisements = [] } = batch;
  return [
    changeOf(RESERVATION, reservationsAfter(events, find)),
    changeOf(CLOSED_KEY, closedKeys),
    changeOf(CORDON, cordons),
    changeOf(ADOPTION, adoption),
    // A committed advertisement replaces any other. Only those that are written behind may be late.
    {
      ...additionOf(ADVERTISEMENT, advertisements),
      remove: advertisements.map(({ advertisement }) => advertisement.clusterId),
    },
    changeOf(DECISION, decisions),
  ];
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
