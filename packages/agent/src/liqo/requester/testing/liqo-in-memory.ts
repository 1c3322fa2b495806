import type { Clock, ObjectMeta } from "@resource-broker/base";
import type { KubeClient, Resource } from "@resource-broker/kube";
import type { FakeCluster } from "../../../testing/fake-cluster.ts";
import type { FakeObject } from "../../../testing/fake-objects.ts";
import type { RunResult } from "../../liqoctl/run-liqoctl.ts";
import {
  FOREIGN_CLUSTERS,
  type ForeignCluster,
  IDENTITIES,
  LIQO_ANNOTATION,
  NAMESPACE_MAPS,
  NAMESPACE_OFFLOADINGS,
  type NamespaceOffloading,
  RESERVATION_NODES,
  RESERVATION_PODS,
  RESOURCE_SLICES,
  type ResourceSlice,
  tenantNamespaceOf,
  VIRTUAL_NODES,
} from "../../objects.ts";
import { aForeignCluster, aNode, aVirtualNode, LIQO_ID } from "./samples.ts";

/** Long before whatever time it is. */
const SINCE = "2026-01-01T00:00:00Z";
const NAMESPACE = tenantNamespaceOf(LIQO_ID);
const IDENTITY = { name: `controlplane-${LIQO_ID}`, namespace: NAMESPACE };
const FOREIGN_CLUSTER = { name: LIQO_ID };

const FINALIZERS: Readonly<Record<string, string>> = {
  [RESOURCE_SLICES.plural]: "crdreplicator.liqo.io/resource",
  [NAMESPACE_OFFLOADINGS.plural]: "namespaceoffloading-controller.liqo.io/finalizer",
};

/** Liqo in the cluster of a test, peered or not with paris alone: acts when it is told to, on what it finds. */
export function liqoInMemory(cluster: FakeCluster) {
  /** What Liqo and liqoctl do wrong. */
  const faults = {
    /** True: liqoctl never ends. */
    hangs: false,
    /** What the next liqoctl says instead of doing anything. */
    answer: undefined as RunResult | undefined,
    /** True: the provider answers nothing, and lets nothing go. */
    isProviderGone: false,
    /** True: what belonged to an Identity stays, for want of rights at the provider, and no slice is served meanwhile. */
    isWedged: false,
    /** True: the provider's API server has just started, and refuses everything: Liqo forgets that, until it changes here. */
    refuses: false,
    /** True: the provider is a consumer here, too. */
    borrows: false,
    /** What Liqo and the kubelet do not remove. */
    stuck: new Set<"pods" | "virtualNode" | "node" | "slice" | "offloading">(),
  };
  /** By what was refused: its version then. */
  const forgotten = new Map<string, string | undefined>();
  const calls: string[][] = [];
  let running = 0;
  /** Peered over what was wedged, Liqo can end it, once the new Identity is gone, too. */
  let hasRights = false;

  const hasIdentity = (): boolean => cluster.find(IDENTITIES, IDENTITY) !== undefined;
  const removeIfThere = <T>(kind: Resource<T>, name: { name: string; namespace?: string }): void => {
    if (cluster.find(kind, name) !== undefined) cluster.remove(kind, name);
  };
  const setForeignCluster = (isProvider: boolean): void => {
    const roles = faults.borrows
      ? (["ConsumerAndProvider", "Consumer"] as const)
      : (["Provider", "Unknown"] as const);
    const object = aForeignCluster(roles[isProvider ? 0 : 1], { hasIdentity: hasIdentity() });
    if (cluster.find(FOREIGN_CLUSTERS, FOREIGN_CLUSTER) === undefined) cluster.put(FOREIGN_CLUSTERS, object);
    else cluster.edit(FOREIGN_CLUSTERS, FOREIGN_CLUSTER, ({ metadata }) => ({ ...object, metadata }));
  };
  /** As after a peering, or as if there had been none. */
  const setPeered = (isPeered: boolean): void => {
    hasRights = isPeered;
    if (!isPeered) removeIfThere(IDENTITIES, IDENTITY);
    else if (!hasIdentity()) {
      const labels = { "liqo.io/remote-cluster-id": LIQO_ID };
      cluster.put(IDENTITIES, {
        apiVersion: "authentication.liqo.io/v1beta1",
        kind: "Identity",
        metadata: { ...IDENTITY, labels },
        spec: { clusterID: LIQO_ID, type: "ControlPlane" },
      });
    }
    setForeignCluster(isPeered);
  };
  /** Only what watches tell it: that an Identity is gone it sees at once, that its Secret is gone when it is made to look. */
  const reconcile = ({ isMade }: { readonly isMade: boolean }): void => {
    const status = cluster.find(FOREIGN_CLUSTERS, FOREIGN_CLUSTER)?.status;
    if (hasIdentity() || status === undefined) return;
    const wasProvider = status.role === "Provider" || status.role === "ConsumerAndProvider";
    const isProvider = wasProvider && (!isMade || (faults.isWedged && !hasRights));
    faults.isWedged &&= isProvider;
    setForeignCluster(isProvider);
  };

  /** Slices and virtual nodes go, then the key. With it the rights at the provider go, often before Liqo has used them. */
  const unpeer = ({ isRaceLost = false } = {}): void => {
    for (const { metadata } of cluster.all(VIRTUAL_NODES)) {
      cluster.remove(VIRTUAL_NODES, { name: metadata.name, namespace: NAMESPACE });
      removeIfThere(RESERVATION_NODES, { name: metadata.name });
    }
    for (const { metadata } of cluster.all(RESOURCE_SLICES))
      cluster.remove(RESOURCE_SLICES, { name: metadata.name, namespace: NAMESPACE });
    faults.isWedged ||= hasIdentity() && isRaceLost;
    removeIfThere(IDENTITIES, IDENTITY);
    hasRights = false;
    reconcile({ isMade: false });
  };

  const answerOf = (verb: string | undefined): RunResult => {
    if (faults.isProviderGone && verb !== "force") return { code: 1, output: "ERRO connection refused" };
    if (verb === "peer") setPeered(true);
    else if (verb === "force") setPeered(false);
    else unpeer({ isRaceLost: true });
    return { code: 0, output: "INFO done" };
  };
  const run = async (
    args: readonly string[],
    { signal }: { readonly signal: AbortSignal },
  ): Promise<RunResult> => {
    calls.push([...args]);
    running++;
    try {
      if (faults.hangs)
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      if (signal.aborted) return { code: undefined, output: "" };
      const said = faults.answer ?? answerOf(args[0]);
      faults.answer = undefined;
      return said;
    } finally {
      running--;
    }
  };

  const removeFinalizers = <T extends { readonly metadata: ObjectMeta }>(
    kind: Resource<T>,
    object: T,
  ): void => {
    const { name, namespace = "" } = object.metadata;
    cluster.edit(kind, { name, namespace }, (it) => ({
      ...it,
      metadata: { ...it.metadata, finalizers: [] },
    }));
  };
  const isRefused = (kind: Resource<unknown>, { name, resourceVersion }: ObjectMeta): boolean => {
    const key = `${kind.plural}/${name}`;
    if (faults.refuses) forgotten.set(key, resourceVersion);
    return forgotten.has(key) && forgotten.get(key) === resourceVersion;
  };
  const serveOffloading = (offloading: NamespaceOffloading): void => {
    const { name, namespace = "", generation = 1 } = offloading.metadata;
    const map = { name: LIQO_ID, namespace: NAMESPACE };
    if (cluster.find(NAMESPACE_MAPS, map) === undefined) cluster.put(NAMESPACE_MAPS, { metadata: map });
    const isThere = !isRefused(NAMESPACE_MAPS, cluster.find(NAMESPACE_MAPS, map)?.metadata ?? map);
    const ready = { type: "Ready", status: isThere ? "True" : "False", lastTransitionTime: SINCE } as const;
    const status = { observedGeneration: generation, remoteNamespacesConditions: { [LIQO_ID]: [ready] } };
    cluster.edit(NAMESPACE_OFFLOADINGS, { name, namespace }, (before) => ({ ...before, status }));
  };
  const answer = (slice: ResourceSlice): ResourceSlice => ({
    ...slice,
    status: {
      conditions: [
        { type: "Authentication", status: "Accepted" },
        { type: "Resources", status: "Accepted" },
      ],
      resources: slice.spec.resources ?? {},
    },
  });
  const serveSlice = (slice: ResourceSlice): void => {
    const { name, namespace = "", annotations } = slice.metadata;
    // Without the Identity nothing of a slice comes to the provider, and nothing comes back.
    if (faults.isWedged || !hasIdentity()) return;
    if (slice.status === undefined) {
      if (!isRefused(RESOURCE_SLICES, slice.metadata))
        cluster.edit(RESOURCE_SLICES, { name, namespace }, answer);
      return;
    }
    const wantsNode = annotations?.[LIQO_ANNOTATION.createVirtualNode] === "true";
    if (wantsNode && cluster.find(VIRTUAL_NODES, { name, namespace }) === undefined) makeNode(slice);
  };
  const makeNode = ({ metadata: { name: id }, status }: ResourceSlice): void => {
    if (status?.resources === undefined) return;
    const made = { id, liqoId: LIQO_ID, resources: status.resources };
    const finalizers = ["virtualnode-controller.liqo.io/finalizer"];
    const { metadata, ...virtualNode } = aVirtualNode(made);
    cluster.put(VIRTUAL_NODES, { ...virtualNode, metadata: { ...metadata, finalizers } });
    cluster.put(RESERVATION_NODES, aNode(made));
  };
  /** Returns those that are let go. */
  const serve = <T extends { readonly metadata: ObjectMeta }>(
    kind: Resource<T>,
    what: "slice" | "offloading" | "virtualNode",
    act: (object: T) => void,
  ): T[] => {
    const isGoing = ({ metadata }: T): boolean => metadata.deletionTimestamp !== undefined;
    const objects = cluster.all(kind);
    for (const object of objects) if (!isGoing(object)) act(object);
    const gone = faults.stuck.has(what) ? [] : objects.filter(isGoing);
    for (const object of gone) removeFinalizers(kind, object);
    return gone;
  };
  /** One round of its controllers. */
  const work = (): void => {
    if (faults.isProviderGone) return;
    serve(RESOURCE_SLICES, "slice", serveSlice);
    serve(NAMESPACE_OFFLOADINGS, "offloading", serveOffloading);
    const gone = serve(VIRTUAL_NODES, "virtualNode", () => undefined);
    if (faults.stuck.has("node")) return;
    for (const { metadata } of gone) removeIfThere(RESERVATION_NODES, { name: metadata.name });
  };
  /** What it says of the provider's API server, since when. */
  const setReach = (isReachable: boolean, silentSince: string): void => {
    const { status } = aForeignCluster("Provider", { isReachable, silentSince });
    cluster.edit(FOREIGN_CLUSTERS, FOREIGN_CLUSTER, (before: ForeignCluster) => ({
      ...before,
      status: { role: "Unknown" as const, ...before.status, conditions: status?.conditions ?? [] },
    }));
  };

  return { faults, calls, run, work, running: () => running, setPeered, setReach, reconcile, unpeer };
}

/** Slices and offloadings get Liqo's finalizer as they are made; pods with a finalizer end only when they are forced to. */
export function liqoClient(
  cluster: FakeCluster,
  { reconcile, faults }: Pick<ReturnType<typeof liqoInMemory>, "reconcile" | "faults">,
  { wallMs }: Pick<Clock, "wallMs">,
): KubeClient {
  return {
    ...cluster.client,
    patch: async (resource, change, options) => {
      const after = await cluster.client.patch(resource, change, options);
      if (resource.plural === FOREIGN_CLUSTERS.plural) reconcile({ isMade: true });
      return after;
    },
    create: async (resource, object, options) => {
      const made = object as FakeObject;
      const finalizer = FINALIZERS[resource.plural];
      if (finalizer === undefined) return cluster.client.create(resource, object, options);
      const finalizers = faults.isWedged ? [] : [finalizer];
      const metadata = { ...made.metadata, creationTimestamp: new Date(wallMs()).toISOString(), finalizers };
      return cluster.client.create(resource, { ...made, metadata } as typeof object, options);
    },
    delete: async (resource, name, options = {}) => {
      await cluster.client.delete(resource, name, options);
      if (resource.plural === IDENTITIES.plural) reconcile({ isMade: false });
      const pod = options.gracePeriodSeconds === 0 ? cluster.find(RESERVATION_PODS, name) : undefined;
      if (pod === undefined) return;
      cluster.edit(RESERVATION_PODS, name, (it) => ({ ...it, metadata: { ...it.metadata, finalizers: [] } }));
    },
  };
}
