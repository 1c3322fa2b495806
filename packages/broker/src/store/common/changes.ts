import {
  apply,
  type Decision,
  isSoft,
  type LedgerEvent,
  ledgerFrom,
  type Reservation,
  type ReservationId,
} from "@resource-broker/domain";
import type { CommitBatch } from "../store.ts";

/** Reservations as a batch leaves them; undefined: forgotten. */
export type ChangedReservations = ReadonlyMap<ReservationId, Reservation | undefined>;

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
 * the live ledger. Throws if the events contradict the stored reservations.
 */
export function changedReservations(
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
  return areAllNew ? changed : applyEvents(events, find);
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
