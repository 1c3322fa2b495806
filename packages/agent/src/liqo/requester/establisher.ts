import { type Clock, Fault } from "@resource-broker/base";
import type { KubeClient } from "@resource-broker/kube";
import type { DataPlaneState, DeliverySpec } from "../../data-plane/data-plane.ts";
import { MANAGER } from "../../manifests/labels.ts";
import { RESOURCE_SLICES } from "../objects/authentication.ts";
import type { ForeignCluster } from "../objects/core.ts";
import { tenantNamespaceOf } from "../objects/labels.ts";
import { NAMESPACE_MAPS, NAMESPACE_OFFLOADINGS } from "../objects/offloading.ts";
import type { ClusterReads } from "./cluster-reads.ts";
import { type DesiredVirtualNode, readDesired } from "./desired-virtual-node.ts";
import { isPeered, isTerminating } from "./foreign-cluster-state.ts";
import type { PeeringJobFactory } from "./peering-job-factory.ts";
import { currentJob, type PeeringJobRunner } from "./peering-job-runner.ts";
import type { PeeringStore } from "./peering-store.ts";
import { ignoreNotFound } from "./peering-teardown.ts";
import { type EstablishStep, type ObservedVirtualNode, planEstablish } from "./plan-establish.ts";
import { planOffload } from "./plan-offload.ts";
import { afterFault, stepTaken, waiting } from "./progress.ts";
import { RELEASING_ANNOTATION, RESERVATION_NODES } from "./reservation-nodes.ts";
import type { SliceAmountTerms } from "./slice-amounts.ts";
import { expiryPatch, sliceManifest, touchPatch, touchSlicePatch } from "./slice-manifest.ts";

export interface EstablishDeps {
  readonly client: Pick<KubeClient, "create" | "update" | "patch" | "delete">;
  readonly reads: ClusterReads;
  readonly peerings: PeeringStore;
  readonly jobs: PeeringJobRunner;
  readonly jobFactory: PeeringJobFactory;
  readonly clock: Pick<Clock, "wallMs">;
}

export interface Establisher {
  readonly establish: (spec: DeliverySpec) => Promise<DataPlaneState>;
  readonly observe: (spec: DeliverySpec) => Promise<DataPlaneState>;
}

type Write = Exclude<EstablishStep, { readonly kind: "wait" | "ready" }>;

export function establisher(terms: SliceAmountTerms, deps: EstablishDeps): Establisher {
  const { client, reads, peerings, jobs, jobFactory, clock } = deps;
  const options = { fieldManager: MANAGER };

  const observeState = async (desired: DesiredVirtualNode): Promise<ObservedVirtualNode> => {
    const [foreignCluster, marker] = await Promise.all([
      reads.foreignCluster(desired.liqoId),
      peerings.of(desired.liqoId),
    ]);
    const job = await currentJob(deps, desired);
    const peering = { foreignCluster, marker, job, wallMs: clock.wallMs() };
    if (isPeered(foreignCluster)) return { ...peering, ...(await observeSlice(desired, foreignCluster)) };
    // A peering may take minutes: until then only a slice that blocks it is read.
    const slice = isTerminating(foreignCluster) ? await reads.slice(desired.liqoId, desired.id) : undefined;
    return { ...peering, ...NOTHING, slice };
  };
  const observeSlice = async (desired: DesiredVirtualNode, foreignCluster: ForeignCluster | undefined) => {
    const [slice, virtualNodes, node, offloads] = await Promise.all([
      reads.slice(desired.liqoId, desired.id),
      reads.virtualNodes(desired.id),
      reads.node(desired.id),
      Promise.all((desired.offload?.namespaces ?? []).map(reads.offload)),
    ]);
    const virtualNode = virtualNodes.find(({ spec }) => spec.clusterID === desired.liqoId);
    // The provider is asked only when everything else is ready.
    const remote = foreignCluster?.status?.tenantNamespace?.remote;
    const tenantStatus = node === undefined ? "unknown" : await jobFactory.tenantStatus(desired, remote);
    return { slice, virtualNode, node, tenantStatus, offload: planOffload(desired, offloads) } as const;
  };

  const perform = async (
    desired: DesiredVirtualNode,
    observed: ObservedVirtualNode,
    step: Write,
  ): Promise<DataPlaneState> => {
    const { id, clusterId } = desired;
    switch (step.kind) {
      case "claim":
        if (observed.marker === undefined) await peerings.open(desired);
        else await peerings.change(observed.marker, { claim: id });
        return stepTaken("Peering", `about to peer with ${clusterId}`);
      case "reopen":
        await peerings.change(step.marker, { claim: id, isEnding: false });
        return stepTaken("Peering", `the peering with ${clusterId} is needed again`);
      case "peer":
        jobs.start(desired.liqoId, jobFactory.peer(desired));
        return stepTaken("Peering", `liqoctl peers with ${clusterId}`);
      case "peer-again":
        jobs.start(desired.liqoId, jobFactory.peerAgain(desired));
        return stepTaken(
          "Peering",
          `Liqo does not replicate slices to ${clusterId}: the clusters are peered again`,
        );
      case "create-slice":
        return createSlice(desired);
      case "remove-slice": {
        const { name, namespace = "" } = step.slice.metadata;
        await client.delete(RESOURCE_SLICES, { name, namespace });
        return stepTaken(
          "SliceRemoved",
          `the slice is not replicated to ${clusterId}: it is created again after peering`,
        );
      }
      case "change-slice": {
        const { name, namespace = "" } = sliceManifest(desired).metadata;
        await client.patch(RESOURCE_SLICES, { name: { name, namespace }, patch: step.patch }, options);
        return stepTaken("SliceChanged", "the slice was reset to the reserved resources");
      }
      case "uncordon": {
        const { name } = step.node.metadata;
        await client.patch(RESERVATION_NODES, { name: { name }, patch: UNCORDONED }, options);
        return stepTaken("Uncordoned", `Node ${name} is uncordoned: its reservation is live`);
      }
      case "write":
        if (step.how === "create") await client.create(NAMESPACE_OFFLOADINGS, step.offloading, options);
        else await client.update(NAMESPACE_OFFLOADINGS, step.offloading, options);
        return stepTaken(
          "Offloading",
          `namespace ${step.offloading.metadata.namespace} may use ${clusterId}`,
        );
    }
  };

  const createSlice = async (desired: DesiredVirtualNode): Promise<DataPlaneState> => {
    const slice = sliceManifest(desired);
    try {
      await client.create(RESOURCE_SLICES, slice, options);
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "not-found") throw error;
      const missing = `namespace ${slice.metadata.namespace} does not exist, though Liqo reports ${desired.clusterId} as peered`;
      const message = `${missing}: peer again with Liqo's default tenant namespace`;
      return waiting({ reason: "TenantNamespaceMissing", message, isStalled: true });
    }
    return stepTaken("SliceCreated", `${desired.clusterId} was asked for the resources`);
  };
  /** Neither changes the state: what is ready stays ready. */
  const refresh = async (
    desired: DesiredVirtualNode,
    { slice, offload, wallMs }: ObservedVirtualNode,
  ): Promise<void> => {
    const namespace = tenantNamespaceOf(desired.liqoId);
    const ofSlice = slice && (expiryPatch(slice, desired) ?? touchSlicePatch(slice, desired, wallMs));
    if (ofSlice !== undefined) {
      const change = { name: { name: desired.id, namespace }, patch: ofSlice };
      await client.patch(RESOURCE_SLICES, change, options);
    }
    const ofMap = offload.kind === "pending" ? touchPatch(offload.since, wallMs) : undefined;
    if (ofMap === undefined) return;
    const change = { name: { name: desired.liqoId, namespace }, patch: ofMap };
    await ignoreNotFound(client.patch(NAMESPACE_MAPS, change, options));
  };

  const runStep = async (
    spec: DeliverySpec,
    prepare: (desired: DesiredVirtualNode, observed: ObservedVirtualNode) => Promise<void>,
    act: (desired: DesiredVirtualNode, observed: ObservedVirtualNode, step: Write) => Promise<DataPlaneState>,
  ): Promise<DataPlaneState> => {
    const reading = readDesired(spec, terms);
    if (!reading.ok) return waiting({ ...reading.obstacle, isStalled: true });
    try {
      const observed = await observeState(reading.desired);
      await prepare(reading.desired, observed);
      const step = planEstablish(reading.desired, observed);
      if (step.kind === "wait") return waiting(step);
      if (step.kind === "ready") return { kind: "ready", reason: "NodeReady", message: step.message };
      return await act(reading.desired, observed, step);
    } catch (error) {
      return afterFault(error);
    }
  };

  return {
    establish: (spec) => runStep(spec, refresh, perform),
    observe: (spec) =>
      runStep(
        spec,
        async () => undefined,
        async ({ clusterId }) =>
          waiting({ reason: "NotEstablished", message: `the virtual node of ${clusterId} does not exist` }),
      ),
  };
}

const UNCORDONED = {
  kind: "merge",
  body: { metadata: { annotations: { [RELEASING_ANNOTATION]: null } }, spec: { unschedulable: null } },
} as const;

const NOTHING = {
  slice: undefined,
  virtualNode: undefined,
  node: undefined,
  tenantStatus: "unknown",
  offload: { kind: "done" },
} as const;
