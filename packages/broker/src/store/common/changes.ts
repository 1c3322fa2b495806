import {
  type AdoptionWindow,
  apply,
  type ClosedKey,
  type Decision,
  isSoft,
  type LedgerEvent,
  ledgerFrom,
  type ReceivedAdvertisement,
  type Reservation,
  type ReservationId,
} from "@resource-broker/domain";
import { type CommitBatch, StoreFailure } from "../store.ts";
import { type CordonedCluster, closedKeyName } from "./record-tables.ts";

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

/** What a batch does to a table. Rows are removed first: a row may be removed and put back. */
export interface TableChange<T> {
  readonly remove: readonly string[];
  readonly put: readonly T[];
}

/** What a batch does to the tables of a SQL store. Of each row only its last state: no row is written twice. */
export interface TableChanges {
  readonly reservations: TableChange<Reservation>;
  readonly closedKeys: TableChange<ClosedKey>;
  readonly cordons: TableChange<CordonedCluster>;
  readonly adoption: TableChange<AdoptionWindow>;
  readonly advertisements: TableChange<ReceivedAdvertisement>;
  readonly decisions: TableChange<Decision>;
}

/** Throws a StoreFailure if the batch contradicts the stored reservations. */
export function tableChanges(
  batch: CommitBatch,
  find: (id: ReservationId) => Reservation | undefined,
): TableChanges {
  const events = durableEvents(batch);
  const closedKeys = new Map<string, ClosedKey | undefined>();
  const cordons = new Map<string, CordonedCluster | undefined>();
  const decisions = new Map<string, Decision>();
  let adoption: AdoptionWindow | undefined;
  for (const event of events) {
    if (event.kind === "key-closed") closedKeys.set(closedKeyName(event.closedKey), event.closedKey);
    if (event.kind === "key-reopened") closedKeys.set(closedKeyName(event), undefined);
    if (event.kind === "cordoned")
      cordons.set(event.clusterId, { clusterId: event.clusterId, cordon: event.cordon });
    if (event.kind === "uncordoned") cordons.set(event.clusterId, undefined);
    if (event.kind === "adoption-window-set") adoption = event.window;
    const decision = decisionOf(event);
    if (decision !== undefined) decisions.set(decision.id, decision);
  }
  const { advertisements = [] } = batch;
  return {
    reservations: changeFrom(reservationsAfter(events, find)),
    closedKeys: changeFrom(closedKeys),
    cordons: changeFrom(cordons),
    adoption: { remove: [], put: adoption === undefined ? [] : [adoption] },
    // A committed advertisement replaces any other. Only those that are written behind may be late.
    advertisements: {
      remove: advertisements.map(({ advertisement }) => advertisement.clusterId),
      put: advertisements,
    },
    decisions: changeFrom(decisions),
  };
}

function changeFrom<T>(states: ReadonlyMap<string, T | undefined>): TableChange<T> {
  return {
    remove: [...states].flatMap(([name, value]) => (value === undefined ? name : [])),
    put: [...states.values()].filter((value) => value !== undefined),
  };
}
