import {
  type AdvertisementDTO,
  type CostDTO,
  fromAdvertisement,
  type ReservationDTO,
  toCostModel,
  toQuantities,
} from "@resource-broker/contract";
import {
  type Advertisement,
  CURRENT_PROTOCOL,
  type ReservationUsage,
  type LiqoIdentity,
  larger,
  NO_RESOURCES,
  parseResources,
  type ResourceVector,
  subtract,
  sum,
} from "@resource-broker/domain";
import type { Observation } from "../observe/cluster-observer.ts";
import { listUsage, withoutUnreadable } from "./advertisement-limits.ts";
import type { Figures } from "./cadence.ts";

/** The input of an advertisement. */
export interface Offer {
  readonly clusterId: string;
  readonly clusterName: string | undefined;
  readonly endpointUrl: string | undefined;
  readonly extraLabels: Readonly<Record<string, string>>;
  readonly liqo: LiqoIdentity | undefined;
  readonly cost: CostDTO | undefined;
  readonly observation: Observation;
  /** Real consumption, where metrics are available. */
  readonly used: ResourceVector | undefined;
  /** Reservations that this cluster provides. */
  readonly holds: readonly ReservationDTO[];
  /** What the broker last reported as reserved; it is returned unchanged and not used for decisions. */
  readonly reserved: AdvertisementDTO["resources"]["reserved"];
  readonly instance: string;
  readonly sequence: number;
  /** Wall clock. */
  readonly now: number;
}

/** The advertisement, and texts about what was left out or merged. */
export interface StatedOffer {
  readonly advertisement: AdvertisementDTO;
  readonly omitted: readonly string[];
}

/** An advertisement within all limits of the contract, whatever the cluster looks like. */
export function advertisementOf(offer: Offer): StatedOffer {
  const { observation, holds, cost, now } = offer;
  const { capacity, allocatable, nodeShapes } = observation.totals;
  const held = heldIn(observation, holds);
  const { listed, unlisted } = listUsage(usageOf(offer));
  // Unlisted reservations must not be lent again: they count as allocated.
  const allocated = sum([
    observation.totals.allocated,
    ...unlisted.map(({ granted, used }) => larger(granted, used)),
  ]);
  const stated: Advertisement = {
    clusterId: offer.clusterId,
    ...(offer.clusterName === undefined ? {} : { clusterName: offer.clusterName }),
    capacity,
    allocatable,
    allocated,
    ...(offer.used === undefined ? {} : { used: offer.used }),
    usage: listed,
    nodeShapes,
    gpuModels: observation.gpus,
    labels: { ...observation.labels, ...offer.extraLabels },
    ...(cost === undefined ? {} : { cost: toCostModel(cost) }),
    ...(offer.endpointUrl === undefined ? {} : { endpointUrl: offer.endpointUrl }),
    ...(offer.liqo === undefined ? {} : { liqo: offer.liqo }),
    protocol: CURRENT_PROTOCOL,
    instance: offer.instance,
    sequence: offer.sequence,
    statedAt: now,
  };
  const standing = { reserved: held, available: availableOf(observation, holds), receivedAt: now };
  const { resources, ...rest } = fromAdvertisement(stated, standing);
  const whole = { ...rest, resources: { ...resources, reserved: offer.reserved ?? toQuantities(held) } };
  const { advertisement, omitted } = withoutUnreadable(whole);
  return { advertisement, omitted: [...unlistedText(unlisted, holds), ...omitted] };
}

function unlistedText(unlisted: readonly ReservationUsage[], holds: readonly ReservationDTO[]): string[] {
  if (unlisted.length === 0) return [];
  const count = `${unlisted.length} of ${holds.length} reservations`;
  return [`usage: ${count} do not fit into an advertisement and count as allocated`];
}

/** The part of the input that decides when to publish next. */
export function figuresOf(offer: Offer): Figures {
  const { observation, holds, cost, endpointUrl, extraLabels, liqo } = offer;
  const { labels, gpus } = observation;
  const heldIds = holds.map(({ id }) => id).sort();
  return {
    allocatable: observation.totals.allocatable,
    allocated: observation.totals.allocated,
    // Without reservations: the broker knows them, so a new one is not urgent.
    available: availableOf(observation, []),
    guests: sum(observation.totals.usage.map(({ used }) => used)),
    offer: JSON.stringify([heldIds, cost, endpointUrl, extraLabels, liqo, labels, gpus]),
  };
}

/** The cluster's own estimate of what it can lend. The broker computes its own. */
export function availableOf(observation: Observation, holds: readonly ReservationDTO[]): ResourceVector {
  const { allocatable, allocated } = observation.totals;
  return larger(subtract(allocatable, sum([allocated, heldIn(observation, holds)])), NO_RESOURCES);
}

/** What reservations take: the granted amount, or the requests of their pods if these are larger. */
export function heldIn({ totals }: Observation, holds: readonly ReservationDTO[]): ResourceVector {
  const used = new Map(totals.usage.map((usage) => [usage.reservationId, usage.used]));
  return sum(
    holds.map((hold) => larger(grantedOf(hold) ?? totals.allocatable, used.get(hold.id) ?? NO_RESOURCES)),
  );
}

/** The amounts of a reservation in the ledger's units; undefined: unreadable. Such a reservation counts as the whole cluster. */
export function grantedOf({ requestedResources }: ReservationDTO): ResourceVector | undefined {
  const parsed = parseResources(requestedResources, "up");
  return parsed.ok ? parsed.resources : undefined;
}

function usageOf({ observation, holds }: Offer): ReservationUsage[] {
  const used = new Map(observation.totals.usage.map((usage) => [usage.reservationId, usage.used]));
  return holds.map((hold) => ({
    reservationId: hold.id,
    granted: grantedOf(hold) ?? observation.totals.allocatable,
    used: used.get(hold.id) ?? NO_RESOURCES,
  }));
}
