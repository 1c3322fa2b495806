import {
  add,
  atLeastZero,
  combine,
  larger,
  NO_RESOURCES,
  type ResourceVector,
  subtract,
} from "@resource-broker/base";
import { type Advertisement, CALLS_PROTOCOL, type ReservationUsage } from "../advertisement/advertisement.ts";
import type { ClusterId, Instant, ReservationId } from "../reservation/ids.ts";
import type { Reservation } from "../reservation/reservation.ts";
import type { Cordon, Kept } from "../scheduling/candidate-table.ts";

/** The ledger's account of one cluster. The fields under "derived" are computed from the others and never stored. */
export interface ClusterAccount {
  readonly clusterId: ClusterId;
  advertisement: Advertisement | undefined;
  /** When the broker received the advertisement: its freshness. */
  receivedAt: Instant;
  /** When the broker last received a call from the cluster, or when the account was created. */
  lastSeenAt: Instant;
  /** Agent processes that were replaced: their late posts are refused. */
  replacedInstances: readonly string[];
  cordon: Cordon | undefined;
  /** As its member record says: nothing is granted from an evicted cluster. */
  evictedAt: Instant | undefined;
  /** Live reservations this cluster provides. */
  readonly asProvider: Map<ReservationId, Reservation>;
  /** Live reservations this cluster requested. */
  readonly asRequester: Map<ReservationId, Reservation>;
  /** Ended reservations this cluster requested that are still kept. */
  readonly endedAsRequester: Map<ReservationId, Reservation>;
  /** Keys this cluster released that are still closed. */
  closedKeyCount: number;
  /** Reservations this cluster refused after the grant, as long as they are remembered. */
  refused: ReadonlyMap<ReservationId, Reservation> | undefined;
  /** What it keeps for a waiting request: of a nomination, or of a plan, which is not stored. */
  kept: Kept | undefined;
  /** Usage per reservation from the newest advertisement. */
  usage: ReadonlyMap<ReservationId, ReservationUsage>;

  // Derived.
  grantedAsRequester: ResourceVector;
  /** Sum of `endedAsRequester`. */
  grantedBefore: ResourceVector;
  /** Reserved capacity of other clusters that an older agent counts as its own; also for some minutes after the end. Not lent again. */
  withheld: ResourceVector;
  reserved: ResourceVector;
  /** Reservations that are live here or still in its usage. */
  reservationCount: number;
  available: ResourceVector;
  /** By how much the reservations exceed the cluster's remaining capacity. */
  overcommitted: ResourceVector;
}

/** An account as readers see it. */
export type AccountView = Readonly<{
  [K in keyof ClusterAccount]: ClusterAccount[K] extends Map<infer Key, infer Value>
    ? ReadonlyMap<Key, Value>
    : ClusterAccount[K];
}>;

export function newAccount(clusterId: ClusterId, now: Instant): ClusterAccount {
  return {
    clusterId,
    advertisement: undefined,
    receivedAt: 0,
    lastSeenAt: now,
    replacedInstances: [],
    cordon: undefined,
    evictedAt: undefined,
    asProvider: new Map(),
    asRequester: new Map(),
    endedAsRequester: new Map(),
    closedKeyCount: 0,
    refused: undefined,
    kept: undefined,
    usage: new Map(),
    grantedAsRequester: NO_RESOURCES,
    grantedBefore: NO_RESOURCES,
    withheld: NO_RESOURCES,
    reserved: NO_RESOURCES,
    reservationCount: 0,
    available: NO_RESOURCES,
    overcommitted: NO_RESOURCES,
  };
}

/** An advertisement as it was received: what a store keeps of it. */
export interface ReceivedAdvertisement {
  readonly advertisement: Advertisement;
  readonly receivedAt: Instant;
  readonly replacedInstances: readonly string[];
}

export function receivedFrom(account: AccountView): ReceivedAdvertisement | undefined {
  const { advertisement, receivedAt, replacedInstances } = account;
  return advertisement === undefined ? undefined : { advertisement, receivedAt, replacedInstances };
}

/** The reservations and usage entries that count against a provider. */
export interface ProviderReservations {
  readonly asProvider: ReadonlyMap<ReservationId, Reservation>;
  readonly usage: ReadonlyMap<ReservationId, ReservationUsage>;
  /** True when the ledger remembers that this reservation of this provider ended. */
  readonly hasEnded: (id: ReservationId) => boolean;
}

/**
 * The amount that one reservation takes from its provider. Live: the grant, or its usage if that is larger. Ended: its remaining
 * usage. Unknown to the ledger: the larger of grant and usage, so that capacity the provider still holds is not lent.
 */
export function reservedFor(id: ReservationId, reservations: ProviderReservations): ResourceVector {
  const live = reservations.asProvider.get(id);
  const usage = reservations.usage.get(id);
  if (live !== undefined) return usage === undefined ? live.granted : larger(live.granted, usage.used);
  if (usage === undefined) return NO_RESOURCES;
  return reservations.hasEnded(id) ? usage.used : larger(usage.granted, usage.used);
}

export function totalReserved(reservations: ProviderReservations): ResourceVector {
  let total = NO_RESOURCES;
  for (const id of reservations.asProvider.keys()) total = add(total, reservedFor(id, reservations));
  for (const id of reservations.usage.keys()) {
    if (!reservations.asProvider.has(id)) total = add(total, reservedFor(id, reservations));
  }
  return total;
}

/** How many reservations are live at a provider or still in its usage. */
export function countReservations({
  asProvider,
  usage,
}: Pick<ProviderReservations, "asProvider" | "usage">): number {
  let count = asProvider.size;
  for (const id of usage.keys()) if (!asProvider.has(id)) count++;
  return count;
}

type AccountInputs = Pick<
  ClusterAccount,
  "reserved" | "grantedAsRequester" | "endedAsRequester" | "receivedAt"
>;

/** Time after which an older agent has removed the virtual node of an ended reservation. */
export const VIRTUAL_NODE_TEARDOWN_MS = 10 * 60 * 1000;

/** The capacity values that are derived from an advertisement and the reservations. */
interface DerivedCapacity {
  readonly withheld: ResourceVector;
  readonly available: ResourceVector;
  readonly overcommitted: ResourceVector;
}

export function deriveCapacity(advertisement: Advertisement, account: AccountInputs): DerivedCapacity {
  const { reserved } = account;
  const withheld = advertisement.protocol < CALLS_PROTOCOL ? withheldFrom(account) : NO_RESOURCES;
  const unallocated = subtract(advertisement.allocatable, advertisement.allocated);
  const left = subtract(subtract(unallocated, withheld), reserved);
  return {
    withheld,
    available: atLeastZero(left),
    overcommitted: combine(left, reserved, (rest, held) => (rest < 0 ? Math.min(-rest, held) : 0)),
  };
}

/** The current advertisement may include virtual nodes of live reservations and of those that ended shortly before it. */
function withheldFrom({ grantedAsRequester, endedAsRequester, receivedAt }: AccountInputs): ResourceVector {
  let total = grantedAsRequester;
  for (const { granted, endedAt = 0 } of endedAsRequester.values()) {
    if (endedAt + VIRTUAL_NODE_TEARDOWN_MS > receivedAt) total = add(total, granted);
  }
  return total;
}

/** Usage by reservation; of duplicates the larger amounts count. */
export function usageById(advertisement: Advertisement): Map<ReservationId, ReservationUsage> {
  const byId = new Map<ReservationId, ReservationUsage>();
  for (const usage of advertisement.usage) {
    const { reservationId, granted, used } = usage;
    const other = byId.get(reservationId);
    const merged = other && {
      reservationId,
      granted: larger(granted, other.granted),
      used: larger(used, other.used),
    };
    byId.set(reservationId, merged ?? usage);
  }
  return byId;
}
