import {
  type KubeClient,
  NAMESPACES,
  type ReconcileResult,
  reconcileLoop,
  type ReflectorDeps,
  SECRETS,
} from "@resource-broker/kube";
import type { ProviderContext } from "../../data-plane/data-plane.ts";
import { ignoring } from "../../faults.ts";
import { MANAGED_BY_LABEL, MANAGER } from "../../manifests/labels.ts";
import {
  IDENTITIES,
  LIQO_LABEL,
  RESOURCE_SLICES,
  type ResourceSlice,
  SHADOW_PODS,
  type ShadowPod,
  type Tenant,
  tenantNamespaceOf,
  TENANTS,
} from "../objects.ts";
import type { PeeringMarkers } from "../requester/peering-marker.ts";
import { perform } from "../writes.ts";
import type { StatementExchange } from "./exchange.ts";
import { PEER_LABEL, type PeerPins } from "./peer-pins.ts";
import { ENDING_ANNOTATION, isOurs, isStopped, type ObservedTenancy, planTenancy } from "./plan-tenancy.ts";
import { SECRET } from "./relay-objects.ts";
import { sliceCsrProblem } from "./share-checks.ts";
import type { Party, ProviderShare } from "./statement.ts";

export interface RelayProviderOptions {
  readonly warmPeers: ReadonlySet<string>;
  readonly warmForMs: number;
}

export interface RelayProviderDeps
  extends Pick<ReflectorDeps, "clock" | "random" | "log">,
    Pick<ProviderContext, "cache" | "isReady" | "recordEvent" | "onRetry"> {
  readonly pins: Pick<PeerPins, "owners">;
  readonly client: KubeClient;
  readonly exchange: Pick<StatementExchange, "heard" | "state" | "lookAgain">;
  readonly markers: Pick<PeeringMarkers, "all">;
}

/** A requester that does not end its side has this long after its last reservation. */
const GRACE_MS = 15 * 60_000;
const RESYNC_MS = 60_000;
const NOT_READY_MS = 500;
const MAX_CHECKED = 1000;
/** More than any peer needs at once. */
const MAX_STEPS = 6;

export type RelayProvider = ReturnType<typeof relayProvider>;

/** The provider's share of relay peering: lets those in for whom something is reserved here, and ends that again. */
export function relayProvider(options: RelayProviderOptions, deps: RelayProviderDeps) {
  const { client, cache, clock, exchange, log } = deps;
  /** Liqo IDs of peers that have, or had, a Tenant of this agent. */
  const known = new Map<string, string>();
  /** Since when nothing is reserved for a peer; monotonic. */
  const idleSince = new Map<string, number>();
  const stated = new Set<string>();

  const reservationsOf = (clusterId: string) =>
    cache.live("provider").filter(({ reservation }) => reservation.requester === clusterId);

  /** How long nothing has been reserved for a peer; 0: something is. */
  const idleMsOf = (clusterId: string): number => {
    if (reservationsOf(clusterId).length > 0) idleSince.delete(clusterId);
    else if (!idleSince.has(clusterId)) idleSince.set(clusterId, clock.monotonicMs());
    return clock.monotonicMs() - (idleSince.get(clusterId) ?? clock.monotonicMs());
  };
  const keptMsOf = (clusterId: string): number => (options.warmPeers.has(clusterId) ? options.warmForMs : 0);
  const demandOf = (clusterId: string): ObservedTenancy["demand"] => {
    const heard = exchange.heard(clusterId);
    const wants = heard?.requester?.wants;
    const idleMs = idleMsOf(clusterId);
    if (wants === false) return "over";
    const keptMs = heard?.warm === true ? keptMsOf(clusterId) : 0;
    if (idleSince.has(clusterId) && idleMs >= keptMs) return idleMs < GRACE_MS + keptMs ? "unclear" : "over";
    return wants === true ? "wanted" : "unclear";
  };

  const observe = async (peer: Party): Promise<ObservedTenancy> => {
    const { clusterId, liqoId } = peer;
    const namespace = tenantNamespaceOf(liqoId);
    const [found, nonce, tenant] = await Promise.all([
      client.find(NAMESPACES, { name: namespace }),
      client.find(SECRETS, { name: SECRET.nonce, namespace }),
      client.find(TENANTS, { name: liqoId, namespace }).catch(ignoring("not-found")),
    ]);
    const demand = demandOf(clusterId);
    // Read only where the plan needs it.
    const isEnding = demand === "over" || (tenant?.spec.tenantCondition ?? "Active") !== "Active";
    return {
      peer,
      demand,
      request: exchange.heard(clusterId)?.requester,
      namespace: found,
      nonce,
      tenant,
      shadowPods: isEnding ? await shadowPodsOf(liqoId) : [],
      replicas: isEnding ? await replicasIn(namespace) : 0,
      isRequester: demand !== "over" || tenant !== undefined || (await isRequester(liqoId)),
    };
  };
  const shadowPodsOf = async (liqoId: string): Promise<ShadowPod[]> => {
    const found: ShadowPod[] = [];
    const labelSelector = `${LIQO_LABEL.podOrigin}=${liqoId}`;
    await client.list(SHADOW_PODS, { labelSelector }, (pod) => {
      if (pod.metadata.labels?.[LIQO_LABEL.podOrigin] === liqoId) found.push(pod);
    });
    return found;
  };
  const replicasIn = async (namespace: string): Promise<number> => {
    let count = 0;
    await client.list(RESOURCE_SLICES, { namespace }, ({ metadata }) => {
      if (metadata.labels?.[LIQO_LABEL.replicated] === "true") count++;
    });
    return count;
  };
  /** The other direction has an Identity, a slice or a reservation in the same namespace. */
  const isRequester = async (liqoId: string): Promise<boolean> => {
    const namespace = tenantNamespaceOf(liqoId);
    let count = 0;
    await client.list(IDENTITIES, { namespace }, () => void count++);
    await client.list(RESOURCE_SLICES, { namespace }, () => void count++);
    // An agent that only lends may list its marks, and not read one by its name.
    return count > 0 || (await deps.markers.all()).some((marker) => marker.liqoId === liqoId);
  };

  const reconcile = async (clusterId: string): Promise<ReconcileResult> => {
    if (!deps.isReady()) return { requeueAfterMs: NOT_READY_MS };
    const liqoId = exchange.heard(clusterId)?.fromLiqoID ?? known.get(clusterId);
    if (liqoId === undefined || !hasAsked(clusterId)) return {};
    for (let step = 0; step < MAX_STEPS; step++) {
      const againInMs = await takeStep({ clusterId, liqoId });
      if (againInMs !== 0) return againInMs === undefined ? {} : { requeueAfterMs: againInMs };
    }
    return { requeueAfterMs: NOT_READY_MS };
  };
  /** Of a peer that only lends there is nothing here, and an agent that only borrows may not look. */
  const hasAsked = (clusterId: string): boolean =>
    exchange.heard(clusterId)?.requester !== undefined || known.has(clusterId) || stated.has(clusterId);
  /** Resolves with when to look again; undefined: when something changes. */
  const takeStep = async (peer: Party): Promise<number | undefined> => {
    const observed = await observe(peer);
    const other = otherLiqoId(peer, observed);
    if (other !== undefined) return refuse(peer, other);
    const { share, writes = [], againInMs } = planTenancy(observed);
    for (const write of writes) {
      log.info({ peer: peer.clusterId, verb: write.verb, kind: write.resource.kind }, "relay peering");
      await perform(client, write).catch(ignoring("not-found", "already-exists", "conflict"));
    }
    if (observed.tenant !== undefined || writes.length > 0) known.set(peer.clusterId, peer.liqoId);
    if (share !== undefined) state(peer, share);
    return againInMs;
  };
  /** The Liqo ID that the reservation names, if it is another one than the peer's own. */
  const otherLiqoId = ({ clusterId, liqoId }: Party, { demand }: ObservedTenancy): string | undefined => {
    if (demand !== "wanted") return undefined;
    const ids = reservationsOf(clusterId).flatMap(
      ({ reservation }) => reservation.dataPlaneIds.requester ?? [],
    );
    // Kept without a reservation, it is known by its pin.
    const isKept = reservationsOf(clusterId).length === 0;
    return isKept || ids.includes(liqoId) ? undefined : (ids[0] ?? "nobody");
  };
  const refuse = (peer: Party, other: string): number => {
    const message = `the broker knows ${peer.clusterId} as ${other} in Liqo, and it says ${peer.liqoId}: wait for its next advertisement`;
    state(peer, { state: "refused", message });
    return RESYNC_MS;
  };
  /** To a peer that never asked, or asks no more, nothing is said. */
  const state = (peer: Party, share: ProviderShare): void => {
    const { clusterId } = peer;
    if (share.state === "none" && !stated.has(clusterId)) return;
    const isOver = share.state === "none" && exchange.heard(clusterId) === undefined;
    if (isOver) stated.delete(clusterId);
    else stated.add(clusterId);
    exchange.state(peer, { provider: isOver ? undefined : share });
  };

  const loop = reconcileLoop(
    {
      name: "tenants",
      concurrency: 4,
      reconcile,
      resync: { everyMs: RESYNC_MS, keys: () => new Set([...known.keys(), ...stated]) },
    },
    { ...deps, observer: { onRetry: deps.onRetry } },
  );
  const endListening = cache.onChange((role, id) => {
    const requester = role === "provider" ? cache.get(role, id)?.reservation.requester : undefined;
    if (requester !== undefined) loop.enqueue(requester);
  });

  /** Tenants that an earlier run of the agent made, and namespaces whose Tenant it had ended. */
  const start = async (): Promise<void> => {
    await client.list(TENANTS, { labelSelector: PEER_LABEL }, (tenant) => {
      const clusterId = tenant.metadata.labels?.[PEER_LABEL];
      if (clusterId === undefined || !isOurs(tenant)) return;
      resume(clusterId, tenant.metadata.name);
    });
    for (const [liqoId, clusterId] of await deps.pins.owners()) {
      if (!known.has(clusterId) && (await isOurNamespace(liqoId))) resume(clusterId, liqoId);
    }
  };
  /** What it has stated may have come before this agent knew why to read it. */
  const resume = (clusterId: string, liqoId: string): void => {
    known.set(clusterId, liqoId);
    exchange.lookAgain(clusterId);
    loop.enqueue(clusterId);
  };
  const isOurNamespace = async (liqoId: string): Promise<boolean> => {
    const found = await client.find(NAMESPACES, { name: tenantNamespaceOf(liqoId) });
    return found?.metadata.labels?.[MANAGED_BY_LABEL] === MANAGER;
  };

  /** Requests of replicas that were found good, so that each is checked once. */
  const checked = new Set<string>();
  /** Liqo signs the request of every replica, and looks at its first organisation only. */
  const checkReplica = async ({ metadata, spec }: ResourceSlice): Promise<void> => {
    const { name, namespace = "", uid = "" } = metadata;
    const { csr } = spec;
    if (csr === undefined || checked.has(`${uid} ${csr}`)) return;
    const liqoId = namespace.slice(tenantNamespaceOf("").length);
    const tenant = await client.find(TENANTS, { name: liqoId, namespace });
    if (tenant === undefined || !isOurs(tenant)) return;
    const problem = sliceCsrProblem({ name, csr }, { liqoId, publicKey: tenant.spec.publicKey ?? "" });
    if (checked.size >= MAX_CHECKED) checked.clear();
    if (problem === undefined) checked.add(`${uid} ${csr}`);
    else await cordon(tenant, `the certificate request of slice ${name} is forged: ${problem}`);
  };
  const cordon = async (tenant: Tenant, message: string): Promise<void> => {
    const { name, namespace = "" } = tenant.metadata;
    if (isStopped(tenant)) return;
    // Without the annotation the end that was begun goes no further: afterwards it could peer again.
    const metadata = { annotations: { [ENDING_ANNOTATION]: null } };
    const body = { metadata, spec: { tenantCondition: "Cordoned" } };
    await client.patch(TENANTS, { name: { name, namespace }, patch: { kind: "merge", body } });
    log.error({ tenant: name, namespace }, message);
    const { group, version, kind } = TENANTS;
    const regarding = { apiVersion: `${group}/${version}`, kind, metadata: tenant.metadata };
    deps.recordEvent({ regarding, type: "Warning", reason: "TenantCordoned", message });
  };

  return {
    start,
    lookAgain: loop.enqueue,
    /** True: it has, or had, a Tenant of this agent. */
    isKnown: (clusterId: string): boolean => known.has(clusterId),
    checkReplica,
    stop: async (): Promise<void> => {
      endListening();
      await loop.stop();
    },
  };
}
