import { resourceVector } from "@resource-broker/base";
import { KUBE_LABEL, RESERVATION_FINALIZER, type Reservation } from "@resource-broker/contract/crd";
import {
  type Reservation as Booked,
  emptyLedger,
  keyName,
  type LedgerView,
  reservationNameFor,
} from "@resource-broker/domain";
import { sha256 } from "@resource-broker/runtime";
import { reservationStatus } from "../../builders/reservation-status.ts";
import { agentsReservation, personsReservation } from "../../testing/samples.ts";
import { planReservation } from "../plan-reservation.ts";
import type { Step } from "../step.ts";

export const NOW = Date.UTC(2026, 0, 5, 12);
export const DAY = 24 * 60 * 60 * 1000;
export const UID = "11111111-2222-3333-4444-555555555555";
export const PERSONS_ID = reservationNameFor("rome", UID, sha256);
export const AGENTS_ID = reservationNameFor("rome", "k1", sha256);
export const FINALIZERS = [RESERVATION_FINALIZER];
export const DELETED = "2026-01-05T11:59:59Z";

export function ledgerReservation(id: string, more: Partial<Booked> = {}): Booked {
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

export const RELEASED = { phase: "Released", reason: "ReleasedByRequester", endedAt: NOW } as const;

interface Case {
  readonly object: Reservation;
  readonly ledger?: readonly Booked[];
  /** Of rome. */
  readonly closedKeys?: readonly string[];
  readonly isOffered?: boolean;
  readonly mayBeUnnamed?: boolean;
}

function ledgerOf(reservations: readonly Booked[] = []): LedgerView {
  return { ...emptyLedger(), reservations: new Map(reservations.map((each) => [each.id, each])) };
}

export function plan({
  object,
  ledger: reservations,
  closedKeys = [],
  isOffered = false,
  mayBeUnnamed = false,
}: Case): Step {
  const closed = closedKeys.map((key) => ({ requester: "rome", key, until: NOW + 1 }));
  const ledger = {
    ...ledgerOf(reservations),
    closedKeys: new Map(closed.map((each) => [keyName("rome", each.key), each])),
  };
  return planReservation({ object, ledger, ledgerId: "led-1", now: NOW, isOffered, mayBeUnnamed });
}

export function personsObject(
  more: Partial<Reservation["metadata"]> = {},
  rest: Partial<Reservation> = {},
): Reservation {
  const object = personsReservation("mine");
  return { ...object, metadata: { ...object.metadata, uid: UID, generation: 1, ...more }, ...rest };
}

const LABELS = { [KUBE_LABEL.requester]: "rome", [KUBE_LABEL.target]: "paris" };

/** A person's object that says all there is to say. */
export function reported(reservation: Booked, more: Partial<Reservation["metadata"]> = {}): Reservation {
  const object = personsObject({ finalizers: FINALIZERS, labels: LABELS, ...more });
  const named = { ...object, spec: { ...object.spec, targetClusterID: "paris" } };
  const context = { ledger: ledgerOf(), ledgerId: "led-1", now: NOW - 500 };
  return { ...named, status: reservationStatus(reservation, context, named) };
}

export function agentsObject(more: Partial<Reservation["metadata"]> = {}): Reservation {
  const object = agentsReservation("k1");
  return { ...object, metadata: { ...object.metadata, uid: UID, generation: 1, ...more } };
}

export const live = ledgerReservation(PERSONS_ID);
/** Made over HTTP with the same key. */
export const other = ledgerReservation(AGENTS_ID, {
  key: "k1",
  granted: resourceVector({ cpuMillis: 4000, memoryBytes: 2 ** 30 }),
});

/** When the broker last wrote: so many ms ago. */
export const answered = (ms: number): string => new Date(NOW - ms).toISOString();

/** What is so, and the step that follows. */
export type PlanRow = readonly [string, Case, string];

export function stepNameOf(state: Case): string {
  const step = plan(state);
  return step.kind === "submit" ? `submit ${step.command.kind}` : step.kind;
}
