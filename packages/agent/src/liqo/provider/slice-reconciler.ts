import { type Clock, Fault, type Log } from "@resource-broker/base";
import { type KubeClient, NAMESPACES } from "@resource-broker/kube";
import type { RecordEvent } from "../../events/record-event.ts";
import { earliestRequeue, type Requeue } from "../../reconcile.ts";
import type { BrokerView } from "../../reservations/expiry.ts";
import type { ReservationCache } from "../../reservations/reservation-cache.ts";
import { RESOURCE_SLICES, type ResourceSlice, TENANTS } from "../objects/authentication.ts";
import { LIQO_LABEL, SLICE_CLASS } from "../objects/labels.ts";
import { QUOTAS } from "../objects/offloading.ts";
import type { BrokerLookups } from "./broker-lookups.ts";
import {
  END_GRACE_MS,
  evaluateReplica,
  type Replica,
  type ReplicaVerdict,
  type ReservationView,
} from "./evaluate-replica.ts";
import { creatorUserOf, type GuestPods, type Replicas, withSpec } from "./liqo-informers.ts";
import { planReplica, type QuotaState, type ReplicaPlan } from "./plan-replica.ts";
import type { SliceCounting } from "./replica-amounts.ts";
import { isAccepted } from "./replica-status.ts";
import { quotaName, replicaWriter } from "./replica-writer.ts";

type Tenancy = Omit<Replica, "slice">;

const NO_TENANT: Tenancy = { tenant: undefined, isTenantActive: false };

export interface SliceReconcilerDeps {
  readonly client: Pick<KubeClient, "find" | "list" | "update" | "patch" | "delete">;
  readonly replicas: Pick<Replicas, "named">;
  readonly guests: Pick<GuestPods, "count" | "evict" | "runFor">;
  readonly lookups: BrokerLookups;
  readonly cache: ReservationCache;
  /** True once capacity is held for the reservation. */
  readonly isHeld: (reservationId: string) => boolean;
  readonly broker: () => BrokerView;
  readonly clock: Clock;
  readonly recordEvent: RecordEvent;
  readonly log: Log;
  readonly terms: SliceCounting;
  readonly isEnforcing: boolean;
}

/** Reconciles all replicas of one slice name. */
export interface SliceReconciler {
  readonly reconcile: (sliceName: string) => Promise<Requeue>;
}

/** Users whose pods are to be evicted, and the replica for the event, if any. */
type Evictions = Map<string, ResourceSlice | undefined>;

/** More steps than any replica needs at once, with a few for concurrent writers. */
const MAX_STEPS = 8;
const EVICT_RETRY_MS = 2000;
/** The prefix of reservation IDs; other names are not looked up at the broker. */
const RESERVATION_NAME = /^rsv-/;

/** Grants replicas of our class what is reserved for them, no more and no longer. */
export function sliceReconciler(deps: SliceReconcilerDeps): SliceReconciler {
  const { client, guests, lookups, cache } = deps;
  const writer = replicaWriter(deps);
  /** Since when a name has been unknown; monotonic time. */
  const unknownSince = new Map<string, number>();

  const reconcile = async (name: string): Promise<Requeue> => {
    const found = deps.replicas.named(name);
    const isKnown = cache.get("provider", name) !== undefined;
    if (isKnown || (found.length === 0 && !guests.runFor(name))) {
      unknownSince.delete(name);
      lookups.forget(name);
    } else if (!unknownSince.has(name)) unknownSince.set(name, deps.clock.monotonicMs());
    const evictions: Evictions = new Map();
    const lookup = await lookUpUnknown(name, found);
    // A failure with one replica, which may be forged, must not block another.
    const settled = await Promise.allSettled(found.map((slice) => reconcileReplica(slice, evictions)));
    const ending = evictEnded(name, evictions);
    const evicted = await Promise.allSettled([...evictions].map(([user, slice]) => evict(user, slice)));
    return [...settled, ...evicted]
      .map(valueOrThrow)
      .reduce(earliestRequeue, earliestRequeue(lookup, ending));
  };

  /** Nothing is revoked because the cache is incomplete: the broker is asked first. */
  const lookUpUnknown = async (name: string, found: readonly ResourceSlice[]): Promise<Requeue> => {
    if (cache.get("provider", name) !== undefined) return {};
    const isUsed = found.some((slice) => slice.spec.class === SLICE_CLASS && isAccepted(slice));
    if (!isUsed && !(guests.runFor(name) && RESERVATION_NAME.test(name))) return {};
    return { requeueAfterMs: await lookups.lookUp(name) };
  };

  const reconcileReplica = async (seen: ResourceSlice, evictions: Evictions): Promise<Requeue> => {
    const { name, namespace = "" } = seen.metadata;
    const newest = async () => {
      const found = await client.find(RESOURCE_SLICES, { name, namespace });
      return found && withSpec(found);
    };
    const owner = lazy(() => tenancyOf(namespace, client));
    let slice: ResourceSlice | undefined = seen;
    let isFresh = false;
    for (let step = 0; step < MAX_STEPS && slice !== undefined; step++) {
      const plan = await planFor(slice, owner);
      if (plan.action === undefined) return plan;
      if (plan.action.kind === "evict") {
        evictions.set(creatorUserOf(name, plan.action.tenant), slice);
        return {};
      }
      // Writes are planned on the newest version and fail on any other.
      slice = isFresh
        ? await writer.perform(plan.action, slice).catch(retryOnConflict(newest))
        : await newest();
      isFresh = true;
    }
    return slice === undefined ? {} : { requeueAfterMs: EVICT_RETRY_MS };
  };

  const planFor = async (slice: ResourceSlice, owner: () => Promise<Tenancy>): Promise<ReplicaPlan> => {
    const { name } = slice.metadata;
    const tenancy = slice.spec.class === SLICE_CLASS ? await owner() : NO_TENANT;
    const verdict = evaluateReplica({ slice, ...tenancy }, viewOf(name), deps.broker().now);
    return planReplica({
      slice,
      verdict,
      isEnforcing: deps.isEnforcing,
      guests: guests.count(creatorUserOf(name, tenancy.tenant ?? "")),
      quota: await quotaOf(slice, verdict),
      wallMs: deps.clock.wallMs(),
    });
  };

  const viewOf = (name: string): ReservationView => ({
    entry: cache.get("provider", name),
    isHeld: deps.isHeld(name),
    isUnknownToBroker: lookups.isUnknownToBroker(name),
    unknownForMs: deps.clock.monotonicMs() - (unknownSince.get(name) ?? deps.clock.monotonicMs()),
    terms: deps.terms,
  });

  /** Read only where the plan needs it. Liqo names the Quota after the consumer that the replica claims. */
  const quotaOf = async (slice: ResourceSlice, verdict: ReplicaVerdict): Promise<QuotaState> => {
    const { kind } = verdict.kind === "refuse" ? verdict.consequence : verdict;
    if (kind !== "deny" && !(kind === "revoke" && isAccepted(slice))) return "none";
    const quota = await client.find(QUOTAS, quotaName(slice));
    if (quota === undefined) return "none";
    return quota.spec.cordoned === true ? "cordoned" : "open";
  };

  /** Also when the consumer deleted its replica and left its pods. */
  const evictEnded = (name: string, evictions: Evictions): Requeue => {
    const { endedAt, reservation } = cache.get("provider", name) ?? {};
    const consumer = reservation?.dataPlaneIds.requester;
    if (endedAt === undefined || consumer === undefined) return {};
    const user = creatorUserOf(name, consumer);
    if (guests.count(user) === 0 || evictions.has(user)) return {};
    const { now } = deps.broker();
    const leftMs = now === undefined ? END_GRACE_MS : endedAt + END_GRACE_MS - now;
    if (leftMs > 0) return { requeueAfterMs: leftMs };
    evictions.set(user, undefined);
    return {};
  };

  const evict = async (user: string, slice: ResourceSlice | undefined): Promise<Requeue> => {
    const removed = await guests.evict(user, client);
    if (removed > 0) {
      deps.log.warn({ user, pods: removed }, "pods that nothing is reserved for are removed");
      const message = `${removed} pods of ${user} are removed: nothing is reserved for them`;
      if (slice !== undefined) writer.recordEvent(slice, "GuestsRemoved", message);
    }
    return { requeueAfterMs: EVICT_RETRY_MS };
  };

  return { reconcile };
}

function valueOrThrow(end: PromiseSettledResult<Requeue>): Requeue {
  if (end.status === "rejected") throw end.reason;
  return end.value;
}

function lazy<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

/** After a concurrent write, plan again on the current object. */
function retryOnConflict<T>(newest: () => Promise<T>): (error: unknown) => Promise<T> {
  return (error) => {
    if (error instanceof Fault && error.code === "conflict") return newest();
    throw error;
  };
}

/**
 * The tenant of a namespace. Liqo labels the namespace when it accepts a consumer, and the consumer cannot
 * change that. It can write Tenants there, so only the Tenant with the right ID counts.
 */
async function tenancyOf(namespace: string, client: Pick<KubeClient, "find" | "list">): Promise<Tenancy> {
  const labels = (await client.find(NAMESPACES, { name: namespace }))?.metadata.labels ?? {};
  const tenant = labels[LIQO_LABEL.remoteCluster];
  const label = labels[LIQO_LABEL.tenantNamespace]?.toLowerCase() ?? "false";
  if (tenant === undefined || label === "false") return NO_TENANT;
  let isTenantActive = true;
  await client.list(TENANTS, { namespace }, ({ metadata, spec }) => {
    const { clusterID, tenantCondition = "Active" } = spec;
    if (metadata.namespace === namespace && clusterID === tenant)
      isTenantActive &&= tenantCondition === "Active";
  });
  return { tenant, isTenantActive };
}
