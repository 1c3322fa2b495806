import { resourceVector } from "@resource-broker/base";
import { advertisementSchema, LIMIT, toAdvertisement, validate } from "@resource-broker/contract";
import {
  CALLS_PROTOCOL,
  MAX_GPU_MODELS,
  MAX_NODE_SHAPES,
  MAX_RESERVATIONS_PER_PROVIDER,
} from "@resource-broker/domain";
import { describe, expect, test } from "vitest";
import type { Reservation } from "../reservations/reservation.ts";
import { aReservation } from "../testing/samples.ts";
import { type AdvertisementInput, advertisementOf } from "./advertisement.ts";
import { anAdvertisementInput, anObservation } from "./testing/samples.ts";

const MOST = MAX_RESERVATIONS_PER_PROVIDER;
const WHOLE = resourceVector({ cpuMillis: 4_000_000, memoryBytes: 2 ** 44 });
/** The longest name that Kubernetes knows. */
const LONG_NAME = `${"a".repeat(63)}.${"b".repeat(63)}.example/${"c".repeat(63)}`;

const advertised = (changes: Partial<AdvertisementInput>) => advertisementOf(anAdvertisementInput(changes));
const many = <T>(length: number, each: (index: number) => T): T[] =>
  Array.from({ length }, (_, index) => each(index));
/** So many reservations of this cluster, each a millicore larger than the one before. */
const reservationsOf = (count: number, extended: Readonly<Record<string, string>> = {}): Reservation[] =>
  many(count, (index) => {
    const requestedResources = { cpu: `${index + 1}m`, memory: "1Mi", extended };
    return aReservation({ id: `rsv-rome-${String(index).padStart(16, "a")}`, requestedResources });
  });
const MANY_RESOURCES = Object.fromEntries(
  many(32, (index) => [`${LONG_NAME.slice(0, -2)}${10 + index}`, "1"]),
);
const NIGHT = { name: "night", days: [1], from: "22:00", to: "06:00", multiplier: 0.5 };

/** Every list or text is one beyond what an advertisement may carry. The last column: what the agent says of it. */
test.each<[string, Partial<AdvertisementInput>, RegExp?]>([
  ["as many reservations as a provider may have", { reservations: reservationsOf(MOST) }],
  [
    "one reservation more",
    { reservations: reservationsOf(MOST + 1) },
    /^usage: 1 of 1001 reservations do not fit/,
  ],
  [
    "as many reservations with 32 extended resources of the longest names",
    { reservations: reservationsOf(MOST, MANY_RESOURCES) },
    /^usage: \d+ of 1000 reservations do not fit/,
  ],
  [
    "more GPU models than are listed, where the cluster's sums did not merge them",
    {
      observation: anObservation(
        {},
        many(MAX_GPU_MODELS + 1, (index) => ({ model: `m-${index}`, count: 1 })),
      ),
    },
    /^gpus: left out, because gpus: /,
  ],
  [
    "a GPU model without a name",
    { observation: anObservation({}, [{ model: "", count: 1 }]) },
    /^gpus: left out/,
  ],
  [
    "one node shape more",
    {
      observation: anObservation({
        nodeShapes: many(MAX_NODE_SHAPES + 1, (index) => ({
          count: 1,
          resources: resourceVector({ cpuMillis: index + 1, memoryBytes: 1 }),
        })),
      }),
    },
    /^nodeShapes: left out/,
  ],
  [
    "more nodes of one shape than can be counted",
    { observation: anObservation({ nodeShapes: [{ count: 1_000_001, resources: WHOLE }] }) },
    /^nodeShapes: left out/,
  ],
  [
    "65 labels",
    { extraLabels: Object.fromEntries(many(65, (index) => [`a.example/l${index}`, ""])) },
    /^labels: left out/,
  ],
  [
    "a version of Liqo that is too long",
    { dataPlane: { clusterId: "cool-paris", version: "v".repeat(64) } },
    /^liqo: left out/,
  ],
  [
    "17 price windows",
    { cost: { cpuCost: "1", memoryCost: "1", currency: "EUR", windows: many(17, () => NIGHT) } },
    /^cost: left out/,
  ],
  [
    "several parts that are too long",
    { clusterName: "n".repeat(254), endpointUrl: `https://${"e".repeat(505)}` },
    /^clusterName: left out.*; endpointURL: left out/,
  ],
])("an advertisement can be read by the broker when its cluster has %s", (_, input, omitted = /^$/) => {
  const stated = advertised(input);
  expect(validate(advertisementSchema, stated.advertisement)).toMatchObject({ ok: true });
  expect(toAdvertisement(stated.advertisement, CALLS_PROTOCOL)).toMatchObject({ ok: true });
  const text = JSON.stringify(stated.advertisement);
  expect(text.length).toBeLessThanOrEqual(LIMIT.advertisementBodyBytes);
  expect(text.split(":").length).toBeLessThanOrEqual(LIMIT.jsonKeys);
  expect(stated.omitted.join("; ")).toMatch(omitted);
});

describe("reservations that do not fit into an advertisement", () => {
  test("are the smallest ones, and count as allocated, so that nothing is lent twice", () => {
    const { advertisement } = advertised({ reservations: reservationsOf(MOST + 2) });
    expect(advertisement.usage).toHaveLength(MOST);
    expect(advertisement.usage?.at(-1)?.granted.cpu).toBe("3m");
    expect(advertisement.resources.allocated).toMatchObject({ cpu: "1003m", memory: "2Mi" });
  });

  test("count as much as their pods request, where that is more", () => {
    const reservations = reservationsOf(MOST + 1);
    const used = resourceVector({ cpuMillis: 1000 });
    const usage = [{ reservationId: reservations[0]?.id ?? "", used }];
    const { advertisement } = advertised({ reservations, observation: anObservation({ usage }) });
    expect(advertisement.resources.allocated).toMatchObject({ cpu: "2", memory: "1Mi" });
  });
});
