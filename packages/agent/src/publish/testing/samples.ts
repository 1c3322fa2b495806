import { NO_RESOURCES, resourceVector } from "@resource-broker/base";
import { NOW } from "../../testing/samples.ts";
import type { AdvertisementInput } from "../advertisement.ts";

export type Observation = AdvertisementInput["observation"];

const WHOLE = resourceVector({ cpuMillis: 100_000, memoryBytes: 400e9 });

/** A cluster without GPUs, of which one CPU is used. */
export function anObservation(
  totals: Partial<Observation["totals"]> = {},
  gpus: Observation["gpus"] = [],
): Observation {
  const pendingShown = { pods: 0, request: NO_RESOURCES, reasons: {} };
  const allocated = resourceVector({ cpuMillis: 1000 });
  const sums = { capacity: WHOLE, allocatable: WHOLE, allocated, nodeShapes: [], usage: [], pendingShown };
  return { totals: { ...sums, ...totals }, labels: {}, gpus };
}

/** What paris advertises when it has nothing to add. */
export function anAdvertisementInput(changes: Partial<AdvertisementInput> = {}): AdvertisementInput {
  return {
    clusterId: "paris",
    clusterName: undefined,
    endpointUrl: undefined,
    extraLabels: {},
    dataPlane: undefined,
    cost: undefined,
    observation: anObservation(),
    used: undefined,
    reservations: [],
    reserved: undefined,
    instance: "instance-1",
    sequence: 1,
    now: NOW,
    ...changes,
  };
}
