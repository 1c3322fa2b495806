import { formatTime } from "@resource-broker/base";
import type { AdvertisementDTO, ReservationDTO, ReservationRequestDTO } from "@resource-broker/contract";

export interface Size {
  readonly cpu: number;
  readonly memoryGi: number;
}

/** What the agent of an otherwise empty cluster of this size posts. */
export function advertisementBody(clusterID: string, { cpu, memoryGi }: Size): AdvertisementDTO {
  const all = { cpu: String(cpu), memory: `${memoryGi}Gi` };
  const none = { cpu: "0", memory: "0" };
  return {
    clusterID,
    clusterName: "cluster-advertisement",
    resources: { capacity: all, allocatable: all, allocated: none, available: all },
    timestamp: formatTime(0),
  };
}

export function reservationBody({ cpu, memoryGi }: Size): ReservationRequestDTO {
  return { requestedResources: { cpu: String(cpu), memory: `${memoryGi}Gi` } };
}

/** What a broker answers to such a request of rome. */
export function reservationReply(id: string): ReservationDTO {
  return {
    id,
    requesterID: "rome",
    targetClusterID: "paris",
    requestedResources: { cpu: "2", memory: "4Gi" },
    status: { phase: "Reserved", message: "" },
    createdAt: "2026-07-01T10:00:00Z",
  };
}
