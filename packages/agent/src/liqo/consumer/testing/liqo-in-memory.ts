import type { ObjectMeta } from "@resource-broker/contract";
import type { KubeClient, Resource } from "@resource-broker/kube";
import type { FakeCluster } from "../../../testing/fake-cluster.ts";
import type { FakeObject } from "../../../testing/fake-objects.ts";
import { FOREIGN_CLUSTERS } from "../../objects/foreign-cluster.ts";
import { LIQO_ANNOTATION, LIQO_LABEL } from "../../objects/labels.ts";
import { RESOURCE_SLICES, type ResourceSlice } from "../../objects/resource-slice.ts";
import { VIRTUAL_NODES } from "../../objects/virtual-node.ts";
import type { Ran } from "../../liqoctl/run-liqoctl.ts";
import { LOAN_NODES, LOAN_PODS, type LoanPod } from "../virtual-kinds.ts";
import { type Answer, aForeignCluster } from "./samples.ts";

/** What Liqo and liqoctl do wrong. */
export interface LiqoHarm {
  /** True: liqoctl never ends. */
  hangs: boolean;
  /** What the next liqoctl says instead of doing anything. */
  says: Ran | undefined;
  /** True: the provider answers nothing, and lets nothing go. */
  isProviderGone: boolean;
  denies: boolean;
}

/** Liqo in the cluster of a test: acts when it is told to, on what it finds. */
export function liqoInMemory(cluster: FakeCluster) {
  const harm: LiqoHarm = { hangs: false, says: undefined, isProviderGone: false, denies: false };
  const calls: string[][] = [];
  let running = 0;

  const setRole = (liqoId: string, role: "Provider" | "Unknown"): void => {
    const object = aForeignCluster(role, { liqoId });
    if (cluster.find(FOREIGN_CLUSTERS, { name: liqoId }) === undefined) cluster.put(FOREIGN_CLUSTERS, object);
    else
      cluster.edit(FOREIGN_CLUSTERS, { name: liqoId }, (before) => ({
        ...object,
        metadata: before.metadata,
      }));
  };
  const liqoIdIn = (args: readonly string[]): string => {
    const file = args.find((arg) => arg.startsWith("--remote-kubeconfig="));
    return file === undefined ? (args.at(-1) ?? "") : `calm-${/([^/]*)\.kubeconfig$/.exec(file)?.[1] ?? ""}`;
  };

  const run = async (args: readonly string[], { signal }: { readonly signal: AbortSignal }): Promise<Ran> => {
    calls.push([...args]);
    running++;
    try {
      if (harm.hangs) await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      if (signal.aborted) return { code: undefined, output: "" };
      const { says } = harm;
      harm.says = undefined;
      if (says !== undefined) return says;
      const isForced = args[0] === "force";
      if (harm.isProviderGone && !isForced) return { code: 1, output: "ERRO connection refused" };
      setRole(liqoIdIn(args), args[0] === "peer" ? "Provider" : "Unknown");
      return { code: 0, output: "INFO done" };
    } finally {
      running--;
    }
  };

  const answer = (slice: ResourceSlice): void => {
    const { name, namespace = "" } = slice.metadata;
    const status: Answer = harm.denies ? "Denied" : "Accepted";
    cluster.edit(RESOURCE_SLICES, { name, namespace }, (before) => ({
      ...before,
      status: {
        conditions: [
          { type: "Authentication", status: "Accepted" } as const,
          { type: "Resources", status, reason: "Because" } as const,
        ],
        ...(harm.denies ? {} : { resources: before.spec.resources ?? {} }),
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
    cluster.put(LOAN_NODES, {
      metadata: { name, labels: { [LIQO_LABEL.type]: "virtual-node", [LIQO_LABEL.remoteCluster]: liqoId } },
      status: { allocatable: spec.resources ?? {}, conditions: [{ type: "Ready", status: "True" }] },
    });
  };

  const letGo = <T extends { readonly metadata: ObjectMeta }>(kind: Resource<T>, { metadata }: T): void => {
    const { name, namespace = "" } = metadata;
    cluster.edit(kind, { name, namespace }, (it) => ({
      ...it,
      metadata: { ...it.metadata, finalizers: [] },
    }));
  };
  const serveSlice = (slice: ResourceSlice): void => {
    const { name, namespace = "", deletionTimestamp, annotations } = slice.metadata;
    if (deletionTimestamp !== undefined) return letGo(RESOURCE_SLICES, slice);
    if (slice.status === undefined) return answer(slice);
    const wantsNode = annotations?.[LIQO_ANNOTATION.createVirtualNode] === "true";
    const hasNode = cluster.find(VIRTUAL_NODES, { name, namespace }) !== undefined;
    if (slice.status.resources !== undefined && wantsNode && !hasNode) makeNode(slice);
  };

  /** One round of its controllers. */
  const work = (): void => {
    if (harm.isProviderGone) return;
    for (const slice of cluster.all(RESOURCE_SLICES)) serveSlice(slice);
    for (const virtualNode of cluster.all(VIRTUAL_NODES)) {
      if (virtualNode.metadata.deletionTimestamp === undefined) continue;
      letGo(VIRTUAL_NODES, virtualNode);
      const { name } = virtualNode.metadata;
      if (cluster.find(LOAN_NODES, { name }) !== undefined) cluster.remove(LOAN_NODES, { name });
    }
  };

  return { harm, calls, run, work, running: () => running, setRole };
}

/** Slices get the replicator's finalizer as they are made; pods with a finalizer end only when they are forced to. */
export function liqosClient(cluster: FakeCluster): KubeClient {
  return {
    ...cluster.client,
    create: async (resource, object, options) => {
      const made = object as FakeObject;
      if (resource.plural !== RESOURCE_SLICES.plural) return cluster.client.create(resource, object, options);
      const metadata = { ...made.metadata, finalizers: ["crdreplicator.liqo.io/resource"] };
      return cluster.client.create(resource, { ...made, metadata } as typeof object, options);
    },
    delete: async (resource, name, options = {}) => {
      await cluster.client.delete(resource, name, options);
      const pod = options.gracePeriodSeconds === 0 ? cluster.find(LOAN_PODS, name) : undefined;
      if (pod === undefined) return;
      cluster.edit(LOAN_PODS, name, (it) => ({ ...it, metadata: { ...it.metadata, finalizers: [] } }));
    },
  };
}

/** A pod that ends only by force. */
export function aStuckPod(name: string, nodeName: string, ownerKind = "ReplicaSet"): LoanPod {
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
