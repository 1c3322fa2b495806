import { formatTime } from "@resource-broker/base";
import type { AdvertisementDTO, ReservationRequestDTO } from "@resource-broker/contract";

/** Amounts that are asked for or lent. */
export interface Amounts {
  readonly cpuMillis: number;
  readonly memoryMi: number;
}

/** What the agent of an empty cluster of this size posts; only what every broker of this kind reads. */
export function advertisementFor(clusterID: string, size: Amounts): AdvertisementDTO {
  const all = quantities(size);
  const none = { cpu: "0", memory: "0" };
  return {
    clusterID,
    clusterName: "cluster-advertisement",
    resources: { capacity: all, allocatable: all, allocated: none, available: all },
    timestamp: formatTime(Math.round(performance.timeOrigin + performance.now())),
  };
}

export function requestFor(wanted: Amounts): ReservationRequestDTO {
  return { requestedResources: quantities(wanted) };
}

export function quantities({ cpuMillis, memoryMi }: Amounts): {
  readonly cpu: string;
  readonly memory: string;
} {
  return { cpu: `${cpuMillis}m`, memory: `${memoryMi}Mi` };
}
