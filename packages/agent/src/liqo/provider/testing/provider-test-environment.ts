import { countedResources } from "@resource-broker/accounting";
import type { ReservationDTO } from "@resource-broker/contract";
import { CONFIG_MAPS, NAMESPACES, type ReflectorDeps } from "@resource-broker/kube";
import type { Namespace } from "@resource-broker/kube/testing";
import { fakeClock } from "@resource-broker/testkit";
import type { ProviderContext } from "../../../data-plane/data-plane.ts";
import type { ObjectEvent } from "../../../events/record-event.ts";
import type { Reservation } from "../../../reservations/reservation.ts";
import { reservationCache } from "../../../reservations/reservation-cache.ts";
import { fakeCluster } from "../../../testing/fake-cluster.ts";
import { recordedLog } from "../../../testing/recorded-log.ts";
import { aReservation, ended } from "../../../testing/samples.ts";
import {
  type Quota,
  QUOTAS,
  RESOURCE_SLICES,
  type ResourceSlice,
  SHADOW_PODS,
  type ShadowPod,
} from "../../objects.ts";
import { creatorUserOf } from "../liqo-informers.ts";
import { liqoProvider } from "../liqo-provider.ts";

export const ROME = "rome-liqo";
export const MALLORY = "mallory-liqo";
export const { id: ID } = aReservation();
/** Where rome's replica lies. */
export const ROMES = { name: ID, namespace: `liqo-tenant-${ROME}` };
/** What rome's agent asks for. */
export const ASKED = { cpu: "4", memory: "8Gi", pods: "110", "ephemeral-storage": "20Gi" };
export const MINUTE_MS = 60_000;

/** paris lends 4 CPU and 8Gi to rome, whose ID in Liqo the broker knows. */
export function aProviderReservation(changes: Partial<ReservationDTO> = {}): Reservation {
  return aReservation({ requesterLiqoID: ROME, ...changes });
}

/** The same, when it is over. */
export const OVER = ended("Expired", { requesterLiqoID: ROME });

export interface ReplicaChanges {
  readonly name?: string;
  /** Whose tenant namespace it lies in. */
  readonly tenant?: string;
  /** Whose it says it is. */
  readonly origin?: string;
  readonly spec?: Partial<ResourceSlice["spec"]>;
  readonly status?: NonNullable<ResourceSlice["status"]>;
  readonly metadata?: Partial<ResourceSlice["metadata"]>;
}

/** A slice as Liqo's replicator writes it on the provider. */
export function aReplica(changes: ReplicaChanges = {}): ResourceSlice {
  const { name = ID, tenant = ROME, origin = tenant, spec, status, metadata } = changes;
  return {
    apiVersion: "authentication.liqo.io/v1beta1",
    kind: "ResourceSlice",
    metadata: {
      name,
      namespace: `liqo-tenant-${tenant}`,
      labels: { "liqo.io/originID": origin, "liqo.io/replicated": "true" },
      annotations: { "liqo.io/create-virtual-node": "true" },
      ...metadata,
    },
    spec: {
      class: "resource-broker",
      consumerClusterID: origin,
      providerClusterID: "paris-liqo",
      resources: ASKED,
      ...spec,
    },
    ...(status === undefined ? {} : { status }),
  };
}

/** What Liqo itself writes about a replica it lets in. */
export const AUTHENTICATED = {
  type: "Authentication",
  status: "Accepted",
  reason: "ResourceSliceAuthenticationAccepted",
  lastTransitionTime: "2026-07-01T09:59:00Z",
} as const;

export function acceptedWith(
  resources: Readonly<Record<string, string>>,
): NonNullable<ResourceSlice["status"]> {
  const lastTransitionTime = "2026-07-01T10:00:00Z";
  const granted = { status: "Accepted", reason: "Reserved", message: "reserved for rome" } as const;
  return { conditions: [AUTHENTICATED, { type: "Resources", ...granted, lastTransitionTime }], resources };
}

export function tenantNamespace(tenant: string): Namespace {
  const labels = { "liqo.io/tenant-namespace": "true", "liqo.io/remote-cluster-id": tenant };
  return { metadata: { name: `liqo-tenant-${tenant}`, labels } };
}

export function aQuota(tenant: string): Quota {
  const user = creatorUserOf(ID, tenant);
  return {
    apiVersion: "offloading.liqo.io/v1beta1",
    kind: "Quota",
    metadata: { name: user, namespace: `liqo-tenant-${tenant}` },
    spec: { user, limitsEnforcement: "None", resources: ASKED },
  };
}

/** A pod that `tenant` runs here through the slice; without `isStamped`, Liqo does not enforce resources here. */
export function aShadowPod(name: string, { tenant = ROME, slice = ID, isStamped = true } = {}): ShadowPod {
  return {
    apiVersion: "offloading.liqo.io/v1beta1",
    kind: "ShadowPod",
    metadata: {
      name,
      namespace: `shop-${tenant}`,
      labels: {
        "offloading.liqo.io/origin": tenant,
        "offloading.liqo.io/nodename": slice,
        ...(isStamped ? { "liqo.io/creator-user": creatorUserOf(slice, tenant) } : {}),
      },
    },
    spec: { pod: {} },
  };
}

/** paris' API server with Liqo in it, and the agent's provider side, which has or has not started yet. */
export function providerTestEnvironment() {
  const time = fakeClock(Date.parse("2026-07-01T10:00:00Z"));
  const cluster = fakeCluster(time);
  const cache = reservationCache({ clusterId: "paris", now: time.wallMs });
  const events: ObjectEvent[] = [];
  const log = recordedLog();
  const broker: { answer: () => Promise<Reservation | undefined>; isCurrent: boolean; asked: string[] } = {
    answer: async () => undefined,
    isCurrent: true,
    asked: [],
  };
  const held = new Set<string>([ID]);
  /** False: the agent has not listed its instructions yet. */
  const state = { isReady: true };
  for (const tenant of [ROME, MALLORY]) cluster.put(NAMESPACES, tenantNamespace(tenant));
  const deps: ReflectorDeps & ProviderContext = {
    resources: countedResources(),
    client: cluster.client,
    clock: time,
    random: () => 0.5,
    log,
    cache,
    communicator: {
      getReservation: (id) => {
        broker.asked.push(id);
        return broker.answer();
      },
    },
    link: {
      isCurrent: () => broker.isCurrent,
      view: () => ({ now: time.wallMs(), isSilent: false }),
    },
    isHeld: (id) => held.has(id),
    isReady: () => state.isReady,
    recordEvent: (event) => void events.push(event),
    onIdentity: () => undefined,
    onRetry: () => undefined,
  };
  const installLiqo = (namespace = "liqo"): void => {
    const labels = { "app.kubernetes.io/name": "clusterid-configmap" };
    cluster.put(CONFIG_MAPS, {
      metadata: { name: "clusterid", namespace, labels },
      data: { CLUSTER_ID: "paris-liqo" },
    });
  };
  installLiqo();
  const find = (tenant = ROME): ResourceSlice | undefined =>
    cluster.find(RESOURCE_SLICES, { name: ID, namespace: `liqo-tenant-${tenant}` });
  return {
    time,
    cluster,
    cache,
    log,
    broker,
    held,
    state,
    deps,
    installLiqo,
    begin: () => {
      const provider = liqoProvider({ namespace: "liqo", isEnforcing: false }, deps);
      void provider.start();
      return provider;
    },
    find,
    word: (tenant = ROME) => {
      const condition = find(tenant)?.status?.conditions?.find(({ type }) => type === "Resources");
      return condition && `${condition.status} ${condition.reason ?? ""}`;
    },
    cordon: (tenant = ROME) => find(tenant)?.metadata.annotations?.["liqo.io/cordon"],
    eventReasons: () => events.map(({ reason }) => reason),
    shadowPods: () => cluster.all(SHADOW_PODS).map(({ metadata }) => metadata.name),
    writes: () => cluster.calls.filter(({ verb }) => verb !== "get" && verb !== "list" && verb !== "watch"),
    /** Liqo's quota controller, when it gets round to it. */
    cordonQuota: (tenant = ROME): void => {
      const { name, namespace = "" } = aQuota(tenant).metadata;
      cluster.edit(QUOTAS, { name, namespace }, ({ spec, ...quota }) => ({
        ...quota,
        spec: { ...spec, cordoned: true },
      }));
    },
  };
}

export type ProviderTestEnvironment = ReturnType<typeof providerTestEnvironment>;

/** rome has its slice, and three pods in it. */
export async function withSlice() {
  const made = providerTestEnvironment();
  made.cache.update("provider", aProviderReservation());
  made.cluster.put(RESOURCE_SLICES, aReplica());
  const provider = made.begin();
  await made.time.advance(1000);
  made.cluster.put(QUOTAS, aQuota(ROME));
  for (const name of ["web-1", "web-2", "web-3"]) made.cluster.put(SHADOW_PODS, aShadowPod(name));
  await made.time.advance(1000);
  return { ...made, provider };
}
