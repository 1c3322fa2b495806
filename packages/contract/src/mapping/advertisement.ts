import { formatBytes, formatTime, parseTime, type ResourceVector } from "@resource-broker/base";
import type { Advertisement, GpuModel, Instant, NodeShape, ReservationUsage } from "@resource-broker/domain";
import type { AdvertisementDTO } from "../wire/advertisement.ts";
import { type AmountReader, amountReader, type Mapped, toQuantities } from "./amounts.ts";
import { fromCostModel, toCostModel } from "./cost.ts";
import { present } from "./present.ts";

/**
 * Converts an advertisement. `reserved` and `available` are ignored: the ledger computes them. `protocol` comes from the
 * Agent-Protocol header; 1 without it.
 */
export function toAdvertisement(dto: AdvertisementDTO, protocol: number): Mapped<Advertisement> {
  const reader = amountReader();
  const { resources, cost, liqo, usage = [], nodeShapes = [], gpus = [], labels = {} } = dto;
  return reader.finish(
    present({
      clusterId: dto.clusterID,
      clusterName: dto.clusterName,
      capacity: reader.roundedDown(resources.capacity, "resources.capacity"),
      allocatable: reader.roundedDown(resources.allocatable, "resources.allocatable"),
      allocated: reader.roundedUp(resources.allocated, "resources.allocated"),
      used: resources.used && reader.roundedUp(resources.used, "resources.used"),
      usage: usage.map((entry, index) => toUsage(entry, `usage[${index}]`, reader)),
      nodeShapes: nodeShapes.map((shape, index) => toNodeShape(shape, `nodeShapes[${index}]`, reader)),
      gpuModels: gpus.map((gpu, index) => toGpuModel(gpu, `gpus[${index}]`, reader)),
      labels,
      cost: cost && toCostModel(cost),
      endpointUrl: dto.endpointURL,
      liqo: liqo && { clusterId: liqo.clusterID, version: liqo.version },
      protocol,
      instance: dto.instance,
      sequence: dto.sequence,
      statedAt: parseTime(dto.timestamp),
    }),
  );
}

/** The ledger's values for a cluster. */
export interface AccountState {
  readonly reserved: ResourceVector;
  readonly available: ResourceVector;
  readonly receivedAt: Instant;
}

export function fromAdvertisement(advertisement: Advertisement, account: AccountState): AdvertisementDTO {
  const { clusterId, used, cost, liqo, labels, usage, nodeShapes, gpuModels } = advertisement;
  return present({
    clusterID: clusterId,
    clusterName: advertisement.clusterName ?? clusterId,
    resources: present({
      capacity: toQuantities(advertisement.capacity),
      allocatable: toQuantities(advertisement.allocatable),
      allocated: toQuantities(advertisement.allocated),
      used: used && toQuantities(used),
      reserved: toQuantities(account.reserved),
      available: toQuantities(account.available),
    }),
    timestamp: formatTime(advertisement.statedAt ?? account.receivedAt),
    cost: cost && fromCostModel(cost),
    endpointURL: advertisement.endpointUrl,
    labels: Object.keys(labels).length === 0 ? undefined : labels,
    nodeShapes: filled(nodeShapes)?.map(fromNodeShape),
    gpus: filled(gpuModels)?.map(fromGpuModel),
    liqo: liqo && { clusterID: liqo.clusterId, version: liqo.version },
    usage: filled(usage)?.map(fromUsage),
    instance: advertisement.instance,
    sequence: advertisement.sequence,
  });
}

function filled<T>(items: readonly T[]): readonly T[] | undefined {
  return items.length === 0 ? undefined : items;
}

type UsageDTO = NonNullable<AdvertisementDTO["usage"]>[number];
type NodeShapeDTO = NonNullable<AdvertisementDTO["nodeShapes"]>[number];
type GpuModelDTO = NonNullable<AdvertisementDTO["gpus"]>[number];

function toUsage(dto: UsageDTO, path: string, reader: AmountReader): ReservationUsage {
  return {
    reservationId: dto.reservationID,
    granted: reader.roundedUp(dto.granted, `${path}.granted`),
    used: reader.roundedUp(dto.used, `${path}.used`),
  };
}

function fromUsage({ reservationId, granted, used }: ReservationUsage): UsageDTO {
  return { reservationID: reservationId, granted: toQuantities(granted), used: toQuantities(used) };
}

function toNodeShape({ count, ...quantities }: NodeShapeDTO, path: string, reader: AmountReader): NodeShape {
  return { count, resources: reader.roundedDown(quantities, path) };
}

function fromNodeShape({ count, resources }: NodeShape): NodeShapeDTO {
  return { count, ...toQuantities(resources) };
}

function toGpuModel({ model, count, memory }: GpuModelDTO, path: string, reader: AmountReader): GpuModel {
  return {
    model,
    count,
    ...(memory === undefined ? {} : { memoryBytes: reader.bytes(memory, `${path}.memory`) }),
  };
}

function fromGpuModel({ model, count, memoryBytes }: GpuModel): GpuModelDTO {
  return present({ model, count, memory: memoryBytes === undefined ? undefined : formatBytes(memoryBytes) });
}
