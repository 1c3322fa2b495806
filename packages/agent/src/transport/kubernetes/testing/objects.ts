import {
  type AdvertisementDTO,
  formatTime,
  KUBE_LABEL,
  type Reservation,
  reservationKind,
  apiVersionOf,
} from "@resource-broker/contract";
import { NAMESPACE } from "./issued-for.ts";

/** Of an object where the broker keeps everything. */
export const named = (name: string) => ({ name, namespace: NAMESPACE });

/** A reservation as the broker shows it: rome borrows 2 CPU from paris. */
export function reservationObject(
  name: string,
  status: Reservation["status"] = {},
  spec: Partial<Reservation["spec"]> = {},
): Reservation {
  const { requesterID = "rome", targetClusterID = "paris" } = spec;
  return {
    apiVersion: apiVersionOf(reservationKind),
    kind: reservationKind.kind,
    metadata: {
      ...named(name),
      creationTimestamp: "2026-01-05T12:00:00Z",
      labels: { [KUBE_LABEL.requester]: requesterID, [KUBE_LABEL.target]: targetClusterID },
    },
    spec: { requesterID, targetClusterID, requestedResources: { cpu: "2", memory: "4Gi" }, ...spec },
    status: {
      phase: "Reserved",
      reservationID: name,
      ledgerID: "led-1",
      generation: 1,
      createdAt: "2026-01-05T12:00:00.000Z",
      message: "as the broker says",
      ...status,
    },
  };
}

export function advertisementOf(clusterID: string): AdvertisementDTO {
  const all = { cpu: "16", memory: "64Gi" };
  const none = { cpu: "0", memory: "0" };
  const resources = { capacity: all, allocatable: all, allocated: none, reserved: none, available: all };
  return { clusterID, resources, timestamp: formatTime(0) };
}
