import { parseResources } from "@resource-broker/base";
import {
  type AdoptionRequestDTO,
  present,
  type ReservationDTO,
  type WaitingRequestDTO,
} from "@resource-broker/contract";
import type { Reservation, WaitingRequest } from "../reservations/reservation.ts";

export function fromWire(wire: ReservationDTO): Reservation {
  const { requestedResources, status } = wire;
  const parsed = parseResources(requestedResources, "up");
  return {
    id: wire.id,
    requester: wire.requesterID,
    provider: wire.targetClusterID,
    phase: status.phase,
    message: status.message,
    endReason: wire.reason,
    quantities: requestedResources,
    resources: parsed.ok ? parsed.resources : undefined,
    createdAt: wire.createdAt,
    reservedAt: status.reservedAt,
    expiresAt: status.expiresAt,
    generation: wire.generation,
    key: wire.key,
    cost: wire.cost,
    tier: wire.tier,
    priority: wire.priority,
    preempting: wire.preempting,
    decisionId: wire.decisionID,
    providerEndpoint: wire.targetClusterEndpoint,
    dataPlaneIds: { requester: wire.requesterLiqoID, provider: wire.targetLiqoID },
    sliceDefaults: wire.sliceDefaults,
  };
}

export function waitingFromWire(wire: WaitingRequestDTO): WaitingRequest {
  const { status, queue } = wire;
  return {
    id: wire.id,
    requester: wire.requesterID,
    tenant: wire.tenant,
    phase: status.phase,
    message: status.message,
    endReason: wire.reason,
    createdAt: wire.createdAt,
    since: wire.since,
    until: wire.until,
    generation: wire.generation,
    key: wire.key,
    queue,
  };
}

type WireFields = { readonly [K in keyof ReservationDTO]: ReservationDTO[K] | undefined };

/**
 * The reservation in the order of the wire schema. Instructions carry it as text: another order would write every
 * instruction again. A key that the agent added comes after the broker's fields.
 */
export function toWire(reservation: Reservation): WireFields {
  const { phase, message, reservedAt, expiresAt, key, isKeyAdded, dataPlaneIds } = reservation;
  return {
    id: reservation.id,
    requesterID: reservation.requester,
    targetClusterID: reservation.provider,
    requestedResources: reservation.quantities,
    status: present({ phase, message, reservedAt, expiresAt }),
    createdAt: reservation.createdAt,
    reason: reservation.endReason,
    cost: reservation.cost,
    generation: reservation.generation,
    ...(isKeyAdded === true ? {} : { key }),
    requesterLiqoID: dataPlaneIds.requester,
    targetLiqoID: dataPlaneIds.provider,
    targetClusterEndpoint: reservation.providerEndpoint,
    tier: reservation.tier,
    priority: reservation.priority,
    preempting: reservation.preempting,
    decisionID: reservation.decisionId,
    ...(isKeyAdded === true ? { key } : {}),
    sliceDefaults: reservation.sliceDefaults,
  };
}

/** The reservation as it is offered to a broker for adoption. */
export function toOffer(reservation: Reservation): AdoptionRequestDTO["reservations"][number] {
  const { id, createdAt, expiresAt, key } = reservation;
  return present({
    id,
    requesterID: reservation.requester,
    targetClusterID: reservation.provider,
    requestedResources: reservation.quantities,
    phase: reservation.phase === "Active" ? ("Active" as const) : ("Reserved" as const),
    generation: reservation.generation ?? 0,
    createdAt,
    expiresAt,
    key,
  });
}
