import { Fault } from "@resource-broker/contract";
import type { KubeClient } from "@resource-broker/kube";
import type { Clock } from "@resource-broker/runtime";
import type { DataPlaneState, Loan } from "../../data-plane/data-plane.ts";
import { MANAGER } from "../../forge/labels.ts";
import type { ForeignCluster } from "../objects/foreign-cluster.ts";
import { tenantNamespaceOf } from "../objects/labels.ts";
import { NAMESPACE_MAPS, NAMESPACE_OFFLOADINGS } from "../objects/namespace-offloading.ts";
import { RESOURCE_SLICES } from "../objects/resource-slice.ts";
import type { SliceAmountTerms } from "./amounts.ts";
import type { ClusterReads } from "./cluster-reads.ts";
import { isLettingGo, isPeered } from "./foreign-cluster-state.ts";
import { expiryChange, forgeSlice } from "./forge-slice.ts";
import { unlessGone } from "./let-go.ts";
import { lookAgain, lookAgainAtSlice } from "./look-again.ts";
import { type LoanWish, wishOf } from "./loan-wish.ts";
import type { PeerWork } from "./peer-work.ts";
import { currentJob, type PeeringJobs } from "./peering-jobs.ts";
import type { Peerings } from "./peerings.ts";
import { type EstablishStep, type LoanSight, planEstablish } from "./plan-establish.ts";
import { planOffload } from "./plan-offload.ts";
import { afterFault, stepped, waiting } from "./under-way.ts";
import { LOAN_NODES, RELEASING_ANNOTATION } from "./virtual-kinds.ts";

export interface EstablishDeps {
  readonly client: Pick<KubeClient, "create" | "update" | "patch" | "delete">;
  readonly reads: ClusterReads;
  readonly marks: Peerings;
  readonly jobs: PeeringJobs;
  readonly work: PeerWork;
  readonly clock: Pick<Clock, "wallMs">;
}

export interface Establishing {
  readonly establish: (loan: Loan) => Promise<DataPlaneState>;
  readonly observe: (loan: Loan) => Promise<DataPlaneState>;
}

type Write = Exclude<EstablishStep, { readonly kind: "wait" | "ready" }>;

export function establishing(terms: SliceAmountTerms, deps: EstablishDeps): Establishing {
  const { client, reads, marks, jobs, work, clock } = deps;
  const options = { fieldManager: MANAGER };

  const look = async (wish: LoanWish): Promise<LoanSight> => {
    const [foreignCluster, marker] = await Promise.all([
      reads.foreignCluster(wish.liqoId),
      marks.of(wish.liqoId),
    ]);
    const job = await currentJob(deps, wish);
    const peering = { foreignCluster, marker, job, wallMs: clock.wallMs() };
    if (isPeered(foreignCluster)) return { ...peering, ...(await lookFurther(wish, foreignCluster)) };
    // A peering may take minutes: until then only a slice that blocks it is read.
    const slice = isLettingGo(foreignCluster) ? await reads.slice(wish.liqoId, wish.id) : undefined;
    return { ...peering, ...NOTHING, slice };
  };
  const lookFurther = async (wish: LoanWish, foreignCluster: ForeignCluster | undefined) => {
    const [slice, virtualNodes, node, offloads] = await Promise.all([
      reads.slice(wish.liqoId, wish.id),
      reads.virtualNodes(wish.id),
      reads.node(wish.id),
      Promise.all((wish.offload?.namespaces ?? []).map(reads.offload)),
    ]);
    const virtualNode = virtualNodes.find(({ spec }) => spec.clusterID === wish.liqoId);
    // The provider is asked only when everything else is ready.
    const remote = foreignCluster?.status?.tenantNamespace?.remote;
    const standing = node === undefined ? "unknown" : await work.standing(wish, remote);
    return { slice, virtualNode, node, standing, offload: planOffload(wish, offloads) } as const;
  };

  const perform = async (wish: LoanWish, sight: LoanSight, step: Write): Promise<DataPlaneState> => {
    const { id, clusterId } = wish;
    switch (step.kind) {
      case "claim":
        if (sight.marker === undefined) await marks.open(wish);
        else await marks.change(sight.marker, { claim: id });
        return stepped("Peering", `about to peer with ${clusterId}`);
      case "reopen":
        await marks.change(step.marker, { claim: id, isEnding: false });
        return stepped("Peering", `the peering with ${clusterId} is needed again`);
      case "peer":
        jobs.start(wish.liqoId, work.peer(wish));
        return stepped("Peering", `liqoctl peers with ${clusterId}`);
      case "peer-anew":
        jobs.start(wish.liqoId, work.peerAnew(wish));
        return stepped(
          "Peering",
          `Liqo does not replicate slices to ${clusterId}: the clusters are peered again`,
        );
      case "create-slice":
        return createSlice(wish);
      case "remove-slice": {
        const { name, namespace = "" } = step.slice.metadata;
        await client.delete(RESOURCE_SLICES, { name, namespace });
        return stepped(
          "SliceRemoved",
          `the slice is not replicated to ${clusterId}: it is created again after peering`,
        );
      }
      case "change-slice": {
        const { name, namespace = "" } = forgeSlice(wish).metadata;
        await client.patch(RESOURCE_SLICES, { name: { name, namespace }, patch: step.patch }, options);
        return stepped("SliceChanged", "the slice was reset to the reserved resources");
      }
      case "uncordon": {
        const { name } = step.node.metadata;
        await client.patch(LOAN_NODES, { name: { name }, patch: UNCORDONED }, options);
        return stepped("Uncordoned", `Node ${name} is uncordoned: its reservation is live`);
      }
      case "write":
        if (step.how === "create") await client.create(NAMESPACE_OFFLOADINGS, step.offloading, options);
        else await client.update(NAMESPACE_OFFLOADINGS, step.offloading, options);
        return stepped("Offloading", `namespace ${step.offloading.metadata.namespace} may use ${clusterId}`);
    }
  };

  const createSlice = async (wish: LoanWish): Promise<DataPlaneState> => {
    const slice = forgeSlice(wish);
    try {
      await client.create(RESOURCE_SLICES, slice, options);
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "not-found") throw error;
      const missing = `namespace ${slice.metadata.namespace} does not exist, though Liqo reports ${wish.clusterId} as peered`;
      const message = `${missing}: peer again with Liqo's default tenant namespace`;
      return waiting({ reason: "TenantNamespaceMissing", message, isTrouble: true });
    }
    return stepped("SliceCreated", `${wish.clusterId} was asked for the resources`);
  };
  /** Neither changes the state: what is ready stays ready. */
  const tend = async (wish: LoanWish, { slice, offload, wallMs }: LoanSight): Promise<void> => {
    const namespace = tenantNamespaceOf(wish.liqoId);
    const ofSlice = slice && (expiryChange(slice, wish) ?? lookAgainAtSlice(slice, wish, wallMs));
    if (ofSlice !== undefined) {
      const change = { name: { name: wish.id, namespace }, patch: ofSlice };
      await client.patch(RESOURCE_SLICES, change, options);
    }
    const ofMap = offload.kind === "pending" ? lookAgain(offload.since, wallMs) : undefined;
    if (ofMap === undefined) return;
    const change = { name: { name: wish.liqoId, namespace }, patch: ofMap };
    await unlessGone(client.patch(NAMESPACE_MAPS, change, options));
  };

  const follow = async (
    loan: Loan,
    prepare: (wish: LoanWish, sight: LoanSight) => Promise<void>,
    act: (wish: LoanWish, sight: LoanSight, step: Write) => Promise<DataPlaneState>,
  ): Promise<DataPlaneState> => {
    const reading = wishOf(loan, terms);
    if (!reading.ok) return waiting({ ...reading.obstacle, isTrouble: true });
    try {
      const sight = await look(reading.wish);
      await prepare(reading.wish, sight);
      const step = planEstablish(reading.wish, sight);
      if (step.kind === "wait") return waiting(step);
      if (step.kind === "ready") return { kind: "ready", reason: "NodeReady", message: step.message };
      return await act(reading.wish, sight, step);
    } catch (error) {
      return afterFault(error);
    }
  };

  return {
    establish: (loan) => follow(loan, tend, perform),
    observe: (loan) =>
      follow(
        loan,
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
  standing: "unknown",
  offload: { kind: "done" },
} as const;
