import { larger, NO_RESOURCES, type ResourceVector, SIZE_ORDER, subtract, sum } from "@resource-broker/base";
import {
  type AdvertisementDTO,
  advertisementSchema,
  type CostDTO,
  describeProblem,
  fromAdvertisement,
  LIMIT,
  present,
  toCostModel,
  toQuantities,
  validate,
} from "@resource-broker/contract";
import {
  type Advertisement,
  CALLS_PROTOCOL,
  MAX_RESERVATIONS_PER_PROVIDER,
  type ReservationUsage,
} from "@resource-broker/domain";
import type { DataPlaneIdentity } from "../data-plane/data-plane.ts";
import type { Observation } from "../observe/cluster-observer.ts";
import type { Reservation } from "../reservations/reservation.ts";
import type { PublishState } from "./publish-schedule.ts";

/** Half of the body is for reservations; everything else fits into the other half. */
const USAGE_BYTES = LIMIT.advertisementBodyBytes / 2;
const USAGE_KEYS = LIMIT.jsonKeys / 2;
/** Keys of an entry without extended resources. */
const PLAIN_KEYS = 11;

interface UsageList {
  readonly listed: readonly ReservationUsage[];
  readonly unlisted: readonly ReservationUsage[];
}

/** Optional fields: without them the broker knows less of the cluster and does not lend more. */
const DISPENSABLE: readonly string[] = [
  "clusterName",
  "cost",
  "endpointURL",
  "gpus",
  "labels",
  "liqo",
  "nodeShapes",
];

/** The input of an advertisement. */
export interface AdvertisementInput {
  readonly clusterId: string;
  readonly clusterName: string | undefined;
  readonly endpointUrl: string | undefined;
  readonly extraLabels: Readonly<Record<string, string>>;
  readonly dataPlane: DataPlaneIdentity | undefined;
  readonly cost: CostDTO | undefined;
  readonly observation: Observation;
  /** Real consumption, where metrics are available. */
  readonly used: ResourceVector | undefined;
  /** Reservations that this cluster provides. */
  readonly reservations: readonly Reservation[];
  /** What the broker last reported as reserved; it is returned unchanged and not used for decisions. */
  readonly reserved: AdvertisementDTO["resources"]["reserved"];
  readonly instance: string;
  readonly sequence: number;
  /** Wall clock. */
  readonly now: number;
}

/** The advertisement, and texts about what was left out or merged. */
export interface BuiltAdvertisement {
  readonly advertisement: AdvertisementDTO;
  readonly omitted: readonly string[];
}

/** An advertisement within all limits of the contract, whatever the cluster looks like. */
export function advertisementOf(input: AdvertisementInput): BuiltAdvertisement {
  const { observation, reservations, cost, now } = input;
  const { capacity, allocatable, nodeShapes } = observation.totals;
  const reserved = reservedIn(observation, reservations);
  const { listed, unlisted } = listUsage(usageOf(input));
  // Unlisted reservations must not be lent again: they count as allocated.
  const allocated = sum([
    observation.totals.allocated,
    ...unlisted.map(({ granted, used }) => larger(granted, used)),
  ]);
  const stated: Advertisement = present({
    clusterId: input.clusterId,
    clusterName: input.clusterName,
    capacity,
    allocatable,
    allocated,
    used: input.used,
    usage: listed,
    nodeShapes,
    gpuModels: observation.gpus,
    labels: { ...observation.labels, ...input.extraLabels },
    cost: cost && toCostModel(cost),
    endpointUrl: input.endpointUrl,
    liqo: input.dataPlane,
    protocol: CALLS_PROTOCOL,
    instance: input.instance,
    sequence: input.sequence,
    statedAt: now,
  });
  const account = { reserved, available: availableOf(observation, reservations), receivedAt: now };
  const { resources, ...rest } = fromAdvertisement(stated, account);
  const whole = { ...rest, resources: { ...resources, reserved: input.reserved ?? toQuantities(reserved) } };
  const { advertisement, omitted } = withoutUnreadable(whole);
  return { advertisement, omitted: [...unlistedText(unlisted, reservations), ...omitted] };
}

function unlistedText(unlisted: readonly ReservationUsage[], reservations: readonly Reservation[]): string[] {
  if (unlisted.length === 0) return [];
  const count = `${unlisted.length} of ${reservations.length} reservations`;
  return [`usage: ${count} do not fit into an advertisement and count as allocated`];
}

/** The part of the input that decides when to publish next. */
export function publishStateOf(input: AdvertisementInput): PublishState {
  const { observation, reservations, cost, endpointUrl, extraLabels, dataPlane } = input;
  const { labels, gpus } = observation;
  const reservationIds = reservations.map(({ id }) => id).sort();
  return {
    allocatable: observation.totals.allocatable,
    allocated: observation.totals.allocated,
    // Without reservations: the broker knows them, so a new one is not urgent.
    available: availableOf(observation, []),
    guestPods: sum(observation.totals.usage.map(({ used }) => used)),
    otherInputs: JSON.stringify([reservationIds, cost, endpointUrl, extraLabels, dataPlane, labels, gpus]),
  };
}

/** The cluster's own estimate of what it can lend. The broker computes its own. */
export function availableOf(observation: Observation, reservations: readonly Reservation[]): ResourceVector {
  const { allocatable, allocated } = observation.totals;
  return larger(subtract(allocatable, sum([allocated, reservedIn(observation, reservations)])), NO_RESOURCES);
}

/** What reservations take: the granted amount, or the requests of their pods if these are larger. */
export function reservedIn({ totals }: Observation, reservations: readonly Reservation[]): ResourceVector {
  const used = new Map(totals.usage.map((usage) => [usage.reservationId, usage.used]));
  return sum(
    reservations.map((reservation) =>
      larger(reservation.resources ?? totals.allocatable, used.get(reservation.id) ?? NO_RESOURCES),
    ),
  );
}

function usageOf({ observation, reservations }: AdvertisementInput): ReservationUsage[] {
  const used = new Map(observation.totals.usage.map((usage) => [usage.reservationId, usage.used]));
  return reservations.map((reservation) => ({
    reservationId: reservation.id,
    granted: reservation.resources ?? observation.totals.allocatable,
    used: used.get(reservation.id) ?? NO_RESOURCES,
  }));
}

/** As many as an advertisement may carry. Where that is not all of them, the largest are listed. */
function listUsage(all: readonly ReservationUsage[]): UsageList {
  if (countThatFits(all) === all.length) return { listed: all, unlisted: [] };
  const sorted = all.toSorted(bySize);
  const count = countThatFits(sorted);
  return { listed: sorted.slice(0, count), unlisted: sorted.slice(count) };
}

function countThatFits(all: readonly ReservationUsage[]): number {
  let bytes = 0;
  let keys = 0;
  for (const [index, usage] of all.entries()) {
    bytes += JSON.stringify(usage).length;
    keys += PLAIN_KEYS + Object.keys(usage.granted.extended).length;
    keys += Object.keys(usage.used.extended).length;
    if (index >= MAX_RESERVATIONS_PER_PROVIDER || bytes > USAGE_BYTES || keys > USAGE_KEYS) return index;
  }
  return all.length;
}

/** The ID makes the order stable. */
function bySize(a: ReservationUsage, b: ReservationUsage): number {
  const slot = SIZE_ORDER.find((each) => a.granted[each] !== b.granted[each]);
  if (slot !== undefined) return b.granted[slot] - a.granted[slot];
  return a.reservationId < b.reservationId ? -1 : 1;
}

/**
 * Leaves out parts that the broker would reject, so that they do not block the whole advertisement. Required
 * parts stay; the broker's refusal names the problem.
 */
function withoutUnreadable(advertisement: AdvertisementDTO): {
  readonly advertisement: AdvertisementDTO;
  readonly omitted: readonly string[];
} {
  const omitted: string[] = [];
  let rest: Readonly<Record<string, unknown>> = { ...advertisement };
  for (;;) {
    const checked = validate(advertisementSchema, rest);
    if (checked.ok) {
      return { advertisement: omitted.length === 0 ? advertisement : checked.value, omitted };
    }
    const [problem] = checked.problems;
    const field = DISPENSABLE.find((name) => name === fieldOf(problem?.path ?? "") && name in rest);
    if (problem === undefined || field === undefined) return { advertisement, omitted: [] };
    rest = Object.fromEntries(Object.entries(rest).filter(([name]) => name !== field));
    omitted.push(`${field}: left out, because ${describeProblem(problem)}`);
  }
}

/** `gpus` of `gpus[3].model`. */
function fieldOf(path: string): string {
  return /^[A-Za-z]*/u.exec(path)?.[0] ?? "";
}
