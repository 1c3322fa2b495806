import type { Clock, ObjectMeta } from "@resource-broker/base";
import type { KubeClient, Resource } from "@resource-broker/kube";
import type { FakeCluster } from "../../../testing/fake-cluster.ts";
import type { FakeObject } from "../../../testing/fake-objects.ts";
import type { RunResult } from "../../liqoctl/run-liqoctl.ts";
import {
  IDENTITIES,
  type Identity,
  RESOURCE_SLICES,
  type ResourceSlice,
} from "../../objects/authentication.ts";
import { FOREIGN_CLUSTERS, type ForeignCluster } from "../../objects/core.ts";
import { LIQO_ANNOTATION, LIQO_LABEL } from "../../objects/labels.ts";
import {
  NAMESPACE_MAPS,
  NAMESPACE_OFFLOADINGS,
  type NamespaceOffloading,
  VIRTUAL_NODES,
} from "../../objects/offloading.ts";
import { RESERVATION_NODES, RESERVATION_PODS, type ReservationPod } from "../reservation-nodes.ts";
import { type Answer, aForeignCluster } from "./samples.ts";

/** Long before whatever time it is. */
const SINCE = "2026-01-01T00:00:00Z";

/** What Liqo and liqoctl do wrong. */
export interface LiqoFaults {
  /** True: liqoctl never ends. */
  hangs: boolean;
  /** What the next liqoctl says instead of doing anything. */
  answer: RunResult | undefined;
  /** True: the provider answers nothing, and lets nothing go. */
  isProviderGone: boolean;
  /** True: what belonged to an Identity stays, for want of rights at the provider, and no slice is served meanwhile. */
  isWedged: boolean;
  denies: boolean;
  /** True: the provider's API server has just started, and refuses everything: Liqo forgets that, until it changes here. */
  refuses: boolean;
}

/** Liqo in the cluster of a test: acts when it is told to, on what it finds. */
export function liqoInMemory(cluster: FakeCluster) {
  const faults: LiqoFaults = {
    hangs: false,
    answer: undefined,
    isProviderGone: false,
    isWedged: false,
    denies: false,
    refuses: false,
  };
  /** By what was refused: its version then. */
  const forgotten = new Map<string, string | undefined>();
  const calls: string[][] = [];
  let running = 0;
  /** Peered over what was wedged, Liqo can end it, once the new Identity is gone, too. */
  let hasRights = false;

  const setForeignCluster = (liqoId: string, object: ForeignCluster): void => {
    if (cluster.find(FOREIGN_CLUSTERS, { name: liqoId }) === undefined) cluster.put(FOREIGN_CLUSTERS, object);
    else
      cluster.edit(FOREIGN_CLUSTERS, { name: liqoId }, (before) => ({
        ...object,
        metadata: before.metadata,
      }));
  };
  /** As after a peering, or as if there had been none. */
  const setRole = (liqoId: string, role: "Provider" | "Unknown"): void => {
    const name = { name: `controlplane-${liqoId}`, namespace: `liqo-tenant-${liqoId}` };
    const isThere = cluster.find(IDENTITIES, name) !== undefined;
    hasRights = role === "Provider";
    if (role === "Provider" && !isThere) cluster.put(IDENTITIES, controlPlaneIdentity(liqoId));
    if (role === "Unknown" && isThere) cluster.remove(IDENTITIES, name);
    setForeignCluster(liqoId, aForeignCluster(role, { liqoId }));
  };
  /** Only what watches tell it: that an Identity is gone it sees at once, that its Secret is gone when it is made to look. */
  const reconcile = (liqoId: string, isMade: boolean): void => {
    const name = { name: `controlplane-${liqoId}`, namespace: `liqo-tenant-${liqoId}` };
    if (cluster.find(IDENTITIES, name) !== undefined) return;
    const role = cluster.find(FOREIGN_CLUSTERS, { name: liqoId })?.status?.role;
    const isProvider = role === "Provider" && (!isMade || (faults.isWedged && !hasRights));
    faults.isWedged &&= isProvider;
    const hasIdentity = false;
    setForeignCluster(liqoId, aForeignCluster(isProvider ? "Provider" : "Unknown", { liqoId, hasIdentity }));
  };
  const liqoIdIn = (args: readonly string[]): string => {
    const file = args.find((arg) => arg.startsWith("--remote-kubeconfig="));
    return file === undefined ? (args.at(-1) ?? "") : `calm-${/([^/]*)\.kubeconfig$/.exec(file)?.[1] ?? ""}`;
  };

  /** Slices and virtual nodes go, then the key. With it the rights at the provider go, often before Liqo has used them. */
  const unpeer = (liqoId: string, { isRaceLost = false } = {}): void => {
    const namespace = `liqo-tenant-${liqoId}`;
    for (const { metadata } of cluster.all(VIRTUAL_NODES)) {
      cluster.remove(VIRTUAL_NODES, { name: metadata.name, namespace });
      if (cluster.find(RESERVATION_NODES, { name: metadata.name }) !== undefined)
        cluster.remove(RESERVATION_NODES, { name: metadata.name });
    }
    for (const { metadata } of cluster.all(RESOURCE_SLICES))
      cluster.remove(RESOURCE_SLICES, { name: metadata.name, namespace });
    const name = { name: `controlplane-${liqoId}`, namespace };
    const hadIdentity = cluster.find(IDENTITIES, name) !== undefined;
    if (hadIdentity) cluster.remove(IDENTITIES, name);
    hasRights = false;
    faults.isWedged ||= hadIdentity && isRaceLost;
    reconcile(liqoId, false);
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
      const { answer: says } = faults;
      faults.answer = undefined;
      if (says !== undefined) return says;
      const isForced = args[0] === "force";
      if (faults.isProviderGone && !isForced) return { code: 1, output: "ERRO connection refused" };
      if (args[0] === "peer") setRole(liqoIdIn(args), "Provider");
      else if (isForced) setRole(liqoIdIn(args), "Unknown");
      else unpeer(liqoIdIn(args), { isRaceLost: true });
      return { code: 0, output: "INFO done" };
    } finally {
      running--;
    }
  };

  const answer = (slice: ResourceSlice): void => {
    const { name, namespace = "" } = slice.metadata;
    const status: Answer = faults.denies ? "Denied" : "Accepted";
    cluster.edit(RESOURCE_SLICES, { name, namespace }, (before) => ({
      ...before,
      status: {
        conditions: [
          { type: "Authentication", status: "Accepted" } as const,
          { type: "Resources", status, reason: "Because" } as const,
        ],
        ...(faults.denies ? {} : { resources: before.spec.resources ?? {} }),
      },
    }));
  };

  const makeNode = ({ metadata, spec }: ResourceSlice): void => {
    const { name, namespace = "" } = metadata;
    const liqoId = spec.providerClusterID ?? "";
    cluster.put(VIRTUAL_NODES, {
      apiVersion: "offloading.liqo.io/v1beta1",
      kind: "VirtualNode",
      metadata: {
        name,
        namespace,
        labels: { [LIQO_LABEL.resourceSlice]: name },
        finalizers: ["virtualnode-controller.liqo.io/finalizer"],
      },
      spec: { clusterID: liqoId },
    });
    cluster.put(RESERVATION_NODES, {
      metadata: { name, labels: { [LIQO_LABEL.type]: "virtual-node", [LIQO_LABEL.remoteCluster]: liqoId } },
      status: { allocatable: spec.resources ?? {}, conditions: [{ type: "Ready", status: "True" }] },
    });
  };

  const removeFinalizers = <T extends { readonly metadata: ObjectMeta }>(
    kind: Resource<T>,
    { metadata }: T,
  ): void => {
    const { name, namespace = "" } = metadata;
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
  const serveOffloading = ({ metadata, spec }: NamespaceOffloading): void => {
    const { name, namespace = "", generation = 1 } = metadata;
    const rules = spec.clusterSelector?.nodeSelectorTerms.flatMap((term) => term.matchExpressions ?? []);
    const conditionsOf = (liqoId: string) => {
      const map = { name: liqoId, namespace: `liqo-tenant-${liqoId}` };
      if (cluster.find(NAMESPACE_MAPS, map) === undefined) cluster.put(NAMESPACE_MAPS, { metadata: map });
      const isThere = !isRefused(NAMESPACE_MAPS, cluster.find(NAMESPACE_MAPS, map)?.metadata ?? map);
      return [{ type: "Ready", status: isThere ? "True" : "False", lastTransitionTime: SINCE } as const];
    };
    const ids = rules?.flatMap(({ values = [] }) => values) ?? [];
    const remoteNamespacesConditions = Object.fromEntries(ids.map((id) => [id, conditionsOf(id)]));
    cluster.edit(NAMESPACE_OFFLOADINGS, { name, namespace }, (before) => ({
      ...before,
      status: { observedGeneration: generation, remoteNamespacesConditions },
    }));
  };
  const serveSlice = (slice: ResourceSlice): void => {
    const { name, namespace = "", deletionTimestamp, annotations } = slice.metadata;
    if (deletionTimestamp !== undefined) return removeFinalizers(RESOURCE_SLICES, slice);
    if (slice.status === undefined) {
      if (!isRefused(RESOURCE_SLICES, slice.metadata)) answer(slice);
      return;
    }
    const wantsNode = annotations?.[LIQO_ANNOTATION.createVirtualNode] === "true";
    const hasNode = cluster.find(VIRTUAL_NODES, { name, namespace }) !== undefined;
    if (slice.status.resources !== undefined && wantsNode && !hasNode) makeNode(slice);
  };

  /** Without the Identity nothing of a slice comes to the provider, and nothing comes back. */
  const isLinked = ({ spec, metadata }: ResourceSlice): boolean => {
    const liqoId = spec.providerClusterID ?? "";
    const name = { name: `controlplane-${liqoId}`, namespace: `liqo-tenant-${liqoId}` };
    if (metadata.deletionTimestamp !== undefined) return true;
    return !faults.isWedged && cluster.find(IDENTITIES, name) !== undefined;
  };
  /** One round of its controllers. */
  const work = (): void => {
    if (faults.isProviderGone) return;
    for (const slice of cluster.all(RESOURCE_SLICES)) if (isLinked(slice)) serveSlice(slice);
    for (const offloading of cluster.all(NAMESPACE_OFFLOADINGS)) serveOffloading(offloading);
    for (const virtualNode of cluster.all(VIRTUAL_NODES)) {
      if (virtualNode.metadata.deletionTimestamp === undefined) continue;
      removeFinalizers(VIRTUAL_NODES, virtualNode);
      const { name } = virtualNode.metadata;
      if (cluster.find(RESERVATION_NODES, { name }) !== undefined)
        cluster.remove(RESERVATION_NODES, { name });
    }
  };

  /** What it says of the provider's API server, since when. */
  const setReach = (liqoId: string, isReachable: boolean, silentSince: string): void => {
    const reached = aForeignCluster("Provider", { liqoId, isReachable, silentSince });
    cluster.edit(FOREIGN_CLUSTERS, { name: liqoId }, (before) => ({
      ...before,
      status: { role: "Unknown" as const, ...before.status, conditions: reached.status?.conditions ?? [] },
    }));
  };

  return {
    setReach,
    harm: faults,
    calls,
    run,
    work,
    running: () => running,
    setRole,
    look: reconcile,
    unpeer,
  };
}

/** Slices get the replicator's finalizer as they are made; pods with a finalizer end only when they are forced to. */
export function liqoClient(
  cluster: FakeCluster,
  { look: reconcile, harm: faults }: Pick<ReturnType<typeof liqoInMemory>, "look" | "harm">,
  { wallMs }: Pick<Clock, "wallMs">,
): KubeClient {
  return {
    ...cluster.client,
    patch: async (resource, change, options) => {
      const after = await cluster.client.patch(resource, change, options);
      if (resource.plural === FOREIGN_CLUSTERS.plural) reconcile(change.name.name, true);
      return after;
    },
    create: async (resource, object, options) => {
      const made = object as FakeObject;
      if (resource.plural !== RESOURCE_SLICES.plural) return cluster.client.create(resource, object, options);
      const finalizers = faults.isWedged ? [] : ["crdreplicator.liqo.io/resource"];
      const creationTimestamp = new Date(wallMs()).toISOString();
      const metadata = { ...made.metadata, creationTimestamp, finalizers };
      return cluster.client.create(resource, { ...made, metadata } as typeof object, options);
    },
    delete: async (resource, name, options = {}) => {
      await cluster.client.delete(resource, name, options);
      if (resource.plural === IDENTITIES.plural) reconcile(name.name.replace("controlplane-", ""), false);
      const pod = options.gracePeriodSeconds === 0 ? cluster.find(RESERVATION_PODS, name) : undefined;
      if (pod === undefined) return;
      cluster.edit(RESERVATION_PODS, name, (it) => ({ ...it, metadata: { ...it.metadata, finalizers: [] } }));
    },
  };
}

/** A pod that ends only by force. */
export function aStuckPod(name: string, nodeName: string, ownerKind = "ReplicaSet"): ReservationPod {
  return {
    metadata: {
      name,
      namespace: "shop",
      finalizers: ["test/kubelet"],
      ownerReferences: [{ apiVersion: "apps/v1", kind: ownerKind, name, uid: "x" }],
    },
    spec: { nodeName },
  };
}

function controlPlaneIdentity(liqoId: string): Identity {
  return {
    apiVersion: "authentication.liqo.io/v1beta1",
    kind: "Identity",
    metadata: {
      name: `controlplane-${liqoId}`,
      namespace: `liqo-tenant-${liqoId}`,
      labels: { [LIQO_LABEL.remoteCluster]: liqoId },
    },
    spec: { clusterID: liqoId, type: "ControlPlane" },
  };
}
