import { toFault } from "@resource-broker/base";
import {
  failureReporter,
  type KubeClient,
  NAMESPACES,
  type ObjectName,
  type ReconcileResult,
  type ReflectorDeps,
} from "@resource-broker/kube";
import type { ProviderContext } from "../../data-plane/data-plane.ts";
import { ignoring } from "../../faults.ts";
import { earliestRequeue } from "../../reconcile.ts";
import {
  LIQO_LABEL,
  QUOTAS,
  RESOURCE_SLICES,
  type ResourceSlice,
  SHADOW_PODS,
  SLICE_CLASS,
  TENANTS,
} from "../objects.ts";
import { perform } from "../writes.ts";
import {
  evaluateReplica,
  graceLeftMs,
  isAccepted,
  type ReplicaVerdict,
  type Tenancy,
} from "./evaluate-replica.ts";
import { creatorUserOf, type Guest, type SliceIndex, withSpec } from "./liqo-informers.ts";
import {
  planReplica,
  type QuotaState,
  quotaName,
  type ReplicaPlan,
  type SliceEvent,
} from "./plan-replica.ts";

export interface SliceReconcilerDeps
  extends Omit<ReflectorDeps, "client">,
    Omit<ProviderContext, "onIdentity"> {
  readonly client: KubeClient;
  readonly replicas: Pick<SliceIndex<ResourceSlice>, "named">;
  readonly guests: Pick<SliceIndex<Guest>, "named">;
  readonly isEnforcing: boolean;
}

/** Users whose pods are to be evicted, and the replica for the event, if any. */
type Evictions = Map<string, ResourceSlice | undefined>;

const NO_TENANT: Tenancy = { tenant: undefined, isTenantActive: false };
/** More steps than any replica needs at once, with a few for concurrent writers. */
const MAX_STEPS = 8;
/** Pods of one user that are deleted in one round, so that one reservation does not block the others. */
const EVICT_AT_ONCE = 50;
const EVICT_RETRY_MS = 2000;
/** The prefix of reservation IDs; other names are not looked up at the broker. */
const RESERVATION_NAME = /^rsv-/;

/** Reconciles all replicas of one slice name: grants what is reserved for them, no more and no longer. */
export function sliceReconciler(deps: SliceReconcilerDeps): (sliceName: string) => Promise<ReconcileResult> {
  const { client, cache, clock, guests } = deps;
  const lookups = brokerLookups(deps);
  /** Since when a name has been unknown; monotonic time. */
  const unknownSince = new Map<string, number>();
  /** Deleted by this agent; the informer may not show it yet. */
  const evicted = new WeakSet<Guest>();
  const guestsOf = (name: string, user: string): Guest[] =>
    guests.named(name).filter((guest) => guest.user === user);
  const hasGuests = (name: string): boolean => guests.named(name).length > 0;

  const reconcile = async (name: string): Promise<ReconcileResult> => {
    const found = deps.replicas.named(name);
    const isKnown = cache.get("provider", name) !== undefined;
    if (isKnown || (found.length === 0 && !hasGuests(name))) {
      unknownSince.delete(name);
      lookups.forget(name);
    } else if (!unknownSince.has(name)) unknownSince.set(name, clock.monotonicMs());
    const evictions: Evictions = new Map();
    const lookup = await lookUpUnknown(name, found);
    // A failure with one replica, which may be forged, must not block another.
    const settled = await Promise.allSettled(found.map((slice) => reconcileReplica(slice, evictions)));
    const ending = evictEnded(name, evictions);
    const ends = await Promise.allSettled([...evictions].map(([user, slice]) => evict(name, user, slice)));
    return [...settled, ...ends].map(valueOrThrow).reduce(earliestRequeue, earliestRequeue(lookup, ending));
  };

  /** Nothing is revoked because the cache is incomplete: the broker is asked first. */
  const lookUpUnknown = async (name: string, found: readonly ResourceSlice[]): Promise<ReconcileResult> => {
    if (cache.get("provider", name) !== undefined) return {};
    const isUsed = found.some((slice) => slice.spec.class === SLICE_CLASS && isAccepted(slice));
    if (!isUsed && !(hasGuests(name) && RESERVATION_NAME.test(name))) return {};
    return { requeueAfterMs: await lookups.lookUp(name) };
  };

  const reconcileReplica = async (seen: ResourceSlice, evictions: Evictions): Promise<ReconcileResult> => {
    const { name, namespace = "" } = seen.metadata;
    const owner = lazy(() => tenancyOf(namespace, client));
    let slice: ResourceSlice | undefined = seen;
    for (let step = 0; step < MAX_STEPS && slice !== undefined; step++) {
      const { user, ...plan } = await planFor(slice, owner);
      if (plan.evict === true) {
        evictions.set(user, slice);
        return {};
      }
      if (plan.write === undefined) return plan;
      // Writes are planned on the newest version and fail on any other.
      if (slice !== seen) await write(plan, slice);
      slice = await newest({ name, namespace });
    }
    return slice === undefined ? {} : { requeueAfterMs: EVICT_RETRY_MS };
  };
  const newest = async (name: ObjectName): Promise<ResourceSlice | undefined> => {
    const found = await client.find(RESOURCE_SLICES, name);
    return found && withSpec(found);
  };

  /** After a concurrent write, the plan is made again on the current object. */
  const write = async (plan: ReplicaPlan, slice: ResourceSlice): Promise<void> => {
    try {
      if (plan.write !== undefined) await perform(client, plan.write);
      if (plan.event !== undefined) recordEvent(slice, plan.event);
    } catch (error) {
      ignoring("conflict", "not-found")(error);
    }
  };

  const recordEvent = ({ metadata }: ResourceSlice, { reason, message }: SliceEvent): void => {
    const { group, version, kind } = RESOURCE_SLICES;
    const regarding = { apiVersion: `${group}/${version}`, kind, metadata };
    const type = reason === "SliceGranted" ? "Normal" : "Warning";
    deps.recordEvent({ regarding, type, reason, message });
  };

  /** The plan, and the user of the guest pods that it counts. */
  const planFor = async (slice: ResourceSlice, owner: () => Promise<Tenancy>) => {
    const { name } = slice.metadata;
    const tenancy = slice.spec.class === SLICE_CLASS ? await owner() : NO_TENANT;
    const user = creatorUserOf(name, tenancy.tenant ?? "");
    const verdict = evaluateReplica(slice, tenancy, {
      entry: cache.get("provider", name),
      isHeld: deps.isHeld(name),
      isUnknownToBroker: lookups.isUnknownToBroker(name),
      unknownForMs: clock.monotonicMs() - (unknownSince.get(name) ?? clock.monotonicMs()),
      counted: deps.resources,
      now: deps.link.view().now,
    });
    const plan = planReplica({
      slice,
      verdict,
      isEnforcing: deps.isEnforcing,
      guests: guestsOf(name, user).length,
      quota: await quotaOf(slice, verdict),
      wallMs: clock.wallMs(),
    });
    return { ...plan, user };
  };

  /** Read only where the plan needs it. Liqo names the Quota after the consumer that the replica claims. */
  const quotaOf = async (slice: ResourceSlice, { kind }: ReplicaVerdict): Promise<QuotaState> => {
    if (kind !== "deny" && !(kind === "revoke" && isAccepted(slice))) return "none";
    const quota = await client.find(QUOTAS, quotaName(slice));
    if (quota === undefined) return "none";
    return quota.spec.cordoned === true ? "cordoned" : "open";
  };

  /** Also when the consumer deleted its replica and left its pods. */
  const evictEnded = (name: string, evictions: Evictions): ReconcileResult => {
    const { endedAt, reservation } = cache.get("provider", name) ?? {};
    const consumer = reservation?.dataPlaneIds.requester;
    if (endedAt === undefined || consumer === undefined) return {};
    const user = creatorUserOf(name, consumer);
    if (guestsOf(name, user).length === 0 || evictions.has(user)) return {};
    const leftMs = graceLeftMs(endedAt, deps.link.view().now);
    if (leftMs > 0) return { requeueAfterMs: leftMs };
    evictions.set(user, undefined);
    return {};
  };

  const evict = async (
    name: string,
    user: string,
    slice: ResourceSlice | undefined,
  ): Promise<ReconcileResult> => {
    const staying = guestsOf(name, user).filter((guest) => !guest.isDeleting && !evicted.has(guest));
    const leaving = staying.slice(0, EVICT_AT_ONCE);
    for (const guest of leaving) {
      // Already gone, or replaced by another pod of the same name, which is handled separately.
      await client.delete(SHADOW_PODS, guest, { uid: guest.uid }).catch(ignoring("not-found", "conflict"));
      evicted.add(guest);
    }
    if (leaving.length > 0) {
      deps.log.warn({ user, pods: leaving.length }, "pods that nothing is reserved for are removed");
      const message = `${leaving.length} pods of ${user} are removed: nothing is reserved for them`;
      if (slice !== undefined) recordEvent(slice, { reason: "GuestsRemoved", message });
    }
    return { requeueAfterMs: EVICT_RETRY_MS };
  };

  return reconcile;
}

function valueOrThrow(end: PromiseSettledResult<ReconcileResult>): ReconcileResult {
  if (end.status === "rejected") throw end.reason;
  return end.value;
}

function lazy<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
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

/** How long a result is used before the broker is asked again. */
const LOOKUP_MS = 60_000;

/** Looks up reservations at the broker that have objects here and are not in the cache. */
function brokerLookups({ cache, communicator, link, clock, log }: SliceReconcilerDeps) {
  const what = "asking the broker about reservations";
  const reporter = failureReporter({ log, clock, fields: {}, what });
  const results = new Map<string, { at: number; isUnknown: boolean }>();

  /** Undefined: no answer, so nothing is revoked. */
  const isUnknown = async (id: string): Promise<boolean | undefined> => {
    try {
      const reservation = await communicator.getReservation(id);
      reporter.recovered();
      if (reservation !== undefined) return cache.update("provider", reservation) === "not-ours";
      // Older brokers return not-found for every ID.
      return link.isCurrent() === true ? true : undefined;
    } catch (error) {
      reporter.failed(toFault(error));
      return undefined;
    }
  };

  return {
    /** True: the broker knows no such reservation of this cluster. */
    isUnknownToBroker: (id: string): boolean => results.get(id)?.isUnknown === true,
    /** Resolves with the time until the next lookup; the result is in the cache. */
    lookUp: async (id: string): Promise<number> => {
      const before = results.get(id);
      const sinceMs = clock.monotonicMs() - (before?.at ?? Number.NEGATIVE_INFINITY);
      if (sinceMs < LOOKUP_MS) return LOOKUP_MS - sinceMs;
      const answer = (await isUnknown(id)) ?? before?.isUnknown ?? false;
      results.set(id, { at: clock.monotonicMs(), isUnknown: answer });
      return LOOKUP_MS;
    },
    forget: (id: string): void => void results.delete(id),
  };
}
