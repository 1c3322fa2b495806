import type { ReservationDTO } from "@resource-broker/contract";
import type { ResourceRequest } from "@resource-broker/contract/crd";
import type { Reservation } from "../reservations/reservation.ts";
import type { CachedReservation } from "../reservations/reservation-cache.ts";
import type { Role } from "../transport/broker-communicator.ts";
import { fromWire } from "../transport/reservation-mapping.ts";

export const UID = "0b6f8c1e-5a44-4c0e-9d11-3c2f9a7be001";

/** paris lends to rome. The changes are those of the wire. */
export function aReservation(changes: Partial<ReservationDTO> = {}): Reservation {
  return fromWire(aWireReservation(changes));
}

export function aWireReservation(changes: Partial<ReservationDTO> = {}): ReservationDTO {
  return {
    id: "rsv-rome-k3u7dq2hvmx5b4ta",
    requesterID: "rome",
    targetClusterID: "paris",
    requestedResources: { cpu: "4", memory: "8Gi" },
    status: { phase: "Reserved", message: "Use paris for 4 CPU / 8Gi Memory" },
    createdAt: "2026-07-01T10:00:00Z",
    generation: 1,
    key: `${UID}-1`,
    ...changes,
  };
}

export function ended(
  reason: NonNullable<ReservationDTO["reason"]>,
  changes: Partial<ReservationDTO> = {},
): Reservation {
  const phase = reason === "Expired" || reason.startsWith("Released") ? "Released" : "Failed";
  return aReservation({
    status: { phase, message: `${phase} (${reason})` },
    reason,
    generation: 2,
    ...changes,
  });
}

/** The time of samples. */
export const NOW = Date.parse("2026-07-01T10:00:00Z");

/** As the cache has it; it ended just now, if it has. */
export function cachedOf(
  role: Role,
  reservation: Reservation,
  changes: Partial<CachedReservation> = {},
): CachedReservation {
  const endedAt = reservation.endReason === undefined ? undefined : NOW;
  return { role, reservation, syncState: "confirmed", endedAt, ...changes };
}

export function aRequest(changes: Partial<ResourceRequest> = {}): ResourceRequest {
  return {
    apiVersion: "rear.fluidos.eu/v1alpha1",
    kind: "ResourceRequest",
    metadata: { name: "more", namespace: "default", uid: UID, generation: 1 },
    spec: { requestedCPU: "4", requestedMemory: "8Gi" },
    ...changes,
  };
}
