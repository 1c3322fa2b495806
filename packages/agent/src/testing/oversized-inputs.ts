import { NO_RESOURCES, resourceVector } from "@resource-broker/base";
import { MAX_GPU_MODELS, MAX_NODE_SHAPES, MAX_RESERVATIONS_PER_PROVIDER } from "@resource-broker/domain";
import type { AdvertisementInput } from "../publish/advertisement.ts";
import type { Reservation } from "../reservations/reservation.ts";
import { aReservation } from "./samples.ts";

const WHOLE = resourceVector({ cpuMillis: 4_000_000, memoryBytes: 2 ** 44 });
/** The longest name that Kubernetes knows. */
const LONG_NAME = `${"a".repeat(63)}.${"b".repeat(63)}.example/${"c".repeat(63)}`;

export function anAdvertisementInput(changes: Partial<AdvertisementInput> = {}): AdvertisementInput {
  return {
    clusterId: "paris",
    clusterName: undefined,
    endpointUrl: undefined,
    extraLabels: {},
    dataPlane: undefined,
    cost: undefined,
    observation: observing({}),
    used: undefined,
    reservations: [],
    reserved: undefined,
    instance: "instance-1",
    sequence: 1,
    now: Date.UTC(2026, 6, 1, 10),
    ...changes,
  };
}

function observing(
  changes: Partial<Omit<AdvertisementInput["observation"], "totals">> & {
    readonly nodeShapes?: AdvertisementInput["observation"]["totals"]["nodeShapes"];
  },
): AdvertisementInput["observation"] {
  const { nodeShapes = [], ...rest } = changes;
  return {
    totals: {
      capacity: WHOLE,
      allocatable: WHOLE,
      allocated: resourceVector({ cpuMillis: 1000 }),
      nodeShapes,
      usage: [],
      pendingShown: { pods: 0, request: NO_RESOURCES, reasons: {} },
    },
    labels: {},
    gpus: [],
    ...rest,
  };
}

/** So many reservations of this cluster, each a millicore larger than the one before. */
export function reservationsOf(
  count: number,
  extended: Readonly<Record<string, string>> = {},
): Reservation[] {
  return Array.from({ length: count }, (_, index) => {
    const requestedResources = { cpu: `${index + 1}m`, memory: "1Mi", extended };
    return aReservation({ id: `rsv-rome-${String(index).padStart(16, "a")}`, requestedResources });
  });
}

const MANY_RESOURCES = Object.fromEntries(
  Array.from({ length: 32 }, (_, index) => [`${LONG_NAME.slice(0, -2)}${10 + index}`, "1"]),
);

interface OversizedInput {
  readonly what: string;
  readonly input: AdvertisementInput;
  /** What the agent says of it; absent: it says nothing, because nothing is lost. */
  readonly omitted?: RegExp;
}

/** Clusters whose every list or text is one beyond what an advertisement may carry. */
export const OVERSIZED_INPUTS: readonly OversizedInput[] = [
  {
    what: "as many reservations as a provider may have",
    input: anAdvertisementInput({ reservations: reservationsOf(MAX_RESERVATIONS_PER_PROVIDER) }),
  },
  {
    what: "one reservation more",
    input: anAdvertisementInput({ reservations: reservationsOf(MAX_RESERVATIONS_PER_PROVIDER + 1) }),
    omitted: /^usage: 1 of 1001 reservations do not fit/,
  },
  {
    what: "as many reservations with 32 extended resources of the longest names",
    input: anAdvertisementInput({
      reservations: reservationsOf(MAX_RESERVATIONS_PER_PROVIDER, MANY_RESOURCES),
    }),
    omitted: /^usage: \d+ of 1000 reservations do not fit/,
  },
  {
    what: "more GPU models than are listed, where the cluster's sums did not merge them",
    input: anAdvertisementInput({
      observation: observing({
        gpus: Array.from({ length: MAX_GPU_MODELS + 1 }, (_, index) => ({ model: `m-${index}`, count: 1 })),
      }),
    }),
    omitted: /^gpus: left out, because gpus: /,
  },
  {
    what: "a GPU model without a name",
    input: anAdvertisementInput({ observation: observing({ gpus: [{ model: "", count: 1 }] }) }),
    omitted: /^gpus: left out/,
  },
  {
    what: "more GPUs of one model than can be counted",
    input: anAdvertisementInput({ observation: observing({ gpus: [{ model: "A100", count: 1_000_001 }] }) }),
    omitted: /^gpus: left out/,
  },
  {
    what: "one node shape more",
    input: anAdvertisementInput({
      observation: observing({
        nodeShapes: Array.from({ length: MAX_NODE_SHAPES + 1 }, (_, index) => ({
          count: 1,
          resources: resourceVector({ cpuMillis: index + 1, memoryBytes: 1 }),
        })),
      }),
    }),
    omitted: /^nodeShapes: left out/,
  },
  {
    what: "more nodes of one shape than can be counted",
    input: anAdvertisementInput({
      observation: observing({ nodeShapes: [{ count: 1_000_001, resources: WHOLE }] }),
    }),
    omitted: /^nodeShapes: left out/,
  },
  {
    what: "65 labels",
    input: anAdvertisementInput({
      extraLabels: Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`a.example/l${index}`, ""])),
    }),
    omitted: /^labels: left out/,
  },
  {
    what: "a label value that is too long",
    input: anAdvertisementInput({ observation: observing({ labels: { zone: "z".repeat(64) } }) }),
    omitted: /^labels: left out/,
  },
  {
    what: "a name that is too long",
    input: anAdvertisementInput({ clusterName: "n".repeat(254) }),
    omitted: /^clusterName: left out/,
  },
  {
    what: "an endpoint that is too long",
    input: anAdvertisementInput({ endpointUrl: `https://${"e".repeat(505)}` }),
    omitted: /^endpointURL: left out/,
  },
  {
    what: "a version of Liqo that is too long",
    input: anAdvertisementInput({ dataPlane: { clusterId: "cool-paris", version: "v".repeat(64) } }),
    omitted: /^liqo: left out/,
  },
  {
    what: "17 price windows",
    input: anAdvertisementInput({
      cost: {
        cpuCost: "1",
        memoryCost: "1",
        currency: "EUR",
        windows: Array.from({ length: 17 }, () => ({
          name: "night",
          days: [1],
          from: "22:00",
          to: "06:00",
          multiplier: 0.5,
        })),
      },
    }),
    omitted: /^cost: left out/,
  },
  {
    what: "several parts that are too long",
    input: anAdvertisementInput({ clusterName: "n".repeat(254), endpointUrl: `https://${"e".repeat(505)}` }),
    omitted: /^clusterName: left out.*; endpointURL: left out/,
  },
];
