import { formatTime } from "@resource-broker/base";
import type { AdvertisementDTO, ReservationRequestDTO } from "@resource-broker/contract";

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
