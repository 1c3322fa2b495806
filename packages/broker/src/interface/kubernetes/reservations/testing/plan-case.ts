import { resourceVector } from "@resource-broker/base";
import {
  KUBE_ANNOTATION,
  KUBE_LABEL,
  RESERVATION_CONDITION,
  RESERVATION_FINALIZER,
  type Reservation,
} from "@resource-broker/contract/crd";
import {
  type Reservation as Booked,
  DEFAULT_POLICY,
  emptyLedger,
  keyName,
  reservationNameFor,
  type Waiting,
} from "@resource-broker/domain";
import { NOON, reservation } from "@resource-broker/domain/testing";
import { sha256 } from "@resource-broker/runtime";
import { type ReservationStatus, reservationStatus } from "../../builders/reservation-status.ts";
import { stepName } from "../../projection/desired-object.ts";
import { agentsReservation, personsReservation } from "../../testing/samples.ts";
import { planReservation } from "../plan-reservation.ts";
import type { ReservationState, ReservationStep } from "../step.ts";

export const NOW = NOON;
const UID = "11111111-2222-3333-4444-555555555555";
export const PERSONS_ID = reservationNameFor("rome", UID, sha256);
export const AGENTS_ID = reservationNameFor("rome", "k1", sha256);
export const NOBODYS_ID = reservationNameFor("nobody", UID, sha256);

type Metadata = Partial<Reservation["metadata"]>;
export const HELD: Metadata = { finalizers: [RESERVATION_FINALIZER] };
export const DELETED: Metadata = { deletionTimestamp: "2026-01-05T11:59:59Z" };

/** A reservation of the ledger. */
export function booked(id: string, more: Partial<Booked> = {}): Booked {
  const { granted, request } = reservation({}, { cpu: 0.5, memoryGi: 0.5 });
  return reservation({ id, granted, request: { ...request, priority: 10 }, createdAt: NOW - 1000, ...more });
}

export const live = booked(PERSONS_ID);
export const active = booked(PERSONS_ID, { phase: "Active" });
export const over = booked(PERSONS_ID, { phase: "Released", reason: "ReleasedByRequester", endedAt: NOW });
/** Made over HTTP with the agent's key, for another amount. */
export const other = booked(AGENTS_ID, {
  key: "k1",
  granted: resourceVector({ cpuMillis: 4000, memoryBytes: 2 ** 30 }),
});

export function persons(metadata: Metadata = {}, rest: Partial<Reservation> = {}): Reservation {
  const object = personsReservation("mine");
  return { ...object, metadata: { ...object.metadata, uid: UID, generation: 1, ...metadata }, ...rest };
}

export function agents(
  metadata: Metadata = {},
  { status, ...spec }: Partial<Reservation["spec"]> & { readonly status?: ReservationStatus } = {},
): Reservation {
  const object = agentsReservation("k1", spec);
  const whole = { ...object, metadata: { ...object.metadata, uid: UID, generation: 1, ...metadata } };
  return status === undefined ? whole : { ...whole, status };
}

/** A person's object that shows all of its reservation. */
export function shown(reservation: Booked, metadata: Metadata = {}): Reservation {
  const labels = { [KUBE_LABEL.requester]: "rome", [KUBE_LABEL.target]: "paris" };
  const object = persons({ ...HELD, labels, ...metadata });
  const named = { ...object, spec: { ...object.spec, targetClusterID: "paris" } };
  const context = { ledger: emptyLedger(), ledgerId: "led-1", now: NOW - 500 };
  return { ...named, status: reservationStatus(reservation, context, named) };
}

/** As a view of the broker. */
export function asView(object: Reservation, metadata: Metadata = {}): Reservation {
  return { ...object, metadata: { name: PERSONS_ID, labels: { [KUBE_LABEL.view]: "true" }, ...metadata } };
}

export function withSignal(
  object: Reservation,
  type: keyof typeof RESERVATION_CONDITION,
  { status = "True", reason = "Said" }: { status?: "True" | "False"; reason?: string } = {},
): Reservation {
  const said = { type: RESERVATION_CONDITION[type], status, reason, message: "why" };
  const condition = { ...said, lastTransitionTime: "2026-01-05T11:59:59Z" };
  const conditions = [...(object.status?.conditions ?? []), condition];
  return { ...object, status: { ...object.status, conditions } };
}

export function withRenewal(object: Reservation, text: string, renewed?: string): Reservation {
  const metadata = { ...object.metadata, annotations: { [KUBE_ANNOTATION.renew]: text } };
  return { ...object, metadata, status: { ...object.status, ...(renewed === undefined ? {} : { renewed }) } };
}

/** When the broker last wrote: so many ms ago. */
export function answered(ms: number): { readonly lastUpdateTime: string } {
  return { lastUpdateTime: new Date(NOW - ms).toISOString() };
}

export type PlanOptions = Partial<Pick<ReservationState, "isOffered" | "mayBeUnnamed" | "place">> & {
  readonly waiting?: readonly Waiting[];
  /** Of rome. */
  readonly closedKeys?: readonly string[];
};

export function plan(
  object: Reservation,
  reservations: readonly Booked[] = [],
  { closedKeys = [], waiting = [], ...more }: PlanOptions = {},
): ReservationStep {
  const closed = closedKeys.map((key) => ({ requester: "rome", key, until: NOW + 1 }));
  const empty = emptyLedger();
  for (const entry of waiting) empty.waiting.put(entry);
  const ledger = {
    ...empty,
    reservations: new Map(reservations.map((each) => [each.id, each])),
    closedKeys: new Map(closed.map((each) => [keyName("rome", each.key), each])),
  };
  return planReservation({
    namespace: "broker",
    name: object.metadata.name,
    object,
    ledger,
    ledgerId: "led-1",
    now: NOW,
    objects: true,
    views: false,
    hasRequest: false,
    isForgotten: false,
    isOffered: false,
    mayBeUnnamed: false,
    policy: DEFAULT_POLICY,
    place: undefined,
    ...more,
  });
}

export function nameOfPlan(...given: Parameters<typeof plan>): string {
  const step = plan(...given);
  if (step.kind === "done") return "done";
  const isSignal = step.kind === "call" && step.call.kind === "submit";
  return isSignal ? `submit ${stepName(step)}` : stepName(step);
}
