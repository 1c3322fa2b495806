import { type ResourceVector, resourceVector } from "@resource-broker/base";
import type { Advertisement, ReservationUsage } from "../advertisement/advertisement.ts";
import type { CostModel } from "../cost/cost-model.ts";
import type { ClusterId } from "../reservation/ids.ts";
import type { Reservation, ReservationRequest } from "../reservation/reservation.ts";

const GIB = 2 ** 30;
/** A Monday: when the time of a test begins. */
export const NOON = Date.UTC(2026, 0, 5, 12);

/** Amounts as people say them: whole CPUs and gibibytes. */
export interface Size {
  readonly cpu?: number;
  readonly memoryGi?: number;
  readonly storageGi?: number;
  readonly gpu?: number;
  readonly extended?: Readonly<Record<string, number>>;
}

export function size({ cpu = 0, memoryGi = 0, storageGi = 0, gpu = 0, extended = {} }: Size): ResourceVector {
  return resourceVector({
    cpuMillis: cpu * 1000,
    memoryBytes: memoryGi * GIB,
    storageBytes: storageGi * GIB,
    gpus: gpu,
    extended,
  });
}

export interface ClusterSketch extends Size {
  readonly allocated?: Size;
  readonly usage?: readonly { readonly id: string; readonly granted: Size; readonly used: Size }[];
  readonly more?: Partial<Advertisement>;
}

/** An advertisement of a cluster with 16 CPU and 64Gi, unless said otherwise. */
export function cluster(clusterId: ClusterId, sketch: ClusterSketch = {}): Advertisement {
  const { allocated = {}, usage = [], more = {}, cpu = 16, memoryGi = 64, ...rest } = sketch;
  const allocatable = size({ cpu, memoryGi, ...rest });
  return {
    clusterId,
    capacity: allocatable,
    allocatable,
    allocated: size(allocated),
    usage: usage.map(
      ({ id, granted, used }): ReservationUsage => ({
        reservationId: id,
        granted: size(granted),
        used: size(used),
      }),
    ),
    nodeShapes: [],
    gpuModels: [],
    labels: {},
    protocol: 2,
    ...more,
  };
}

/** A request for 4 CPU and 8Gi, unless said otherwise. */
export function request(wanted: Size = {}, more: Partial<ReservationRequest> = {}): ReservationRequest {
  const { cpu = 4, memoryGi = 8, ...rest } = wanted;
  return {
    resources: size({ cpu, memoryGi, ...rest }),
    priority: 0,
    constraints: {},
    tier: "on-demand",
    ...more,
  };
}

/** A reservation of rome's at paris for 4 CPU and 8Gi, unless said otherwise. */
export function reservation(more: Partial<Reservation> = {}, wanted: Size = {}): Reservation {
  const asked = request(wanted);
  const { createdAt = NOON } = more;
  return {
    id: "rsv-rome-1",
    requester: "rome",
    provider: "paris",
    granted: asked.resources,
    request: asked,
    phase: "Reserved",
    createdAt,
    reservedAt: createdAt,
    acknowledged: false,
    generation: 1,
    ...more,
  };
}

/** Prices per hour in EUR: so much for a CPU, a tenth of it for a gigabyte, fifty times as much for a GPU. */
export function priced(cpuHour: number, more: Partial<CostModel> = {}): CostModel {
  return {
    currency: "EUR",
    onDemand: { cpuHour, memoryGbHour: cpuHour / 10, gpuHour: cpuHour * 50 },
    ...more,
  };
}
