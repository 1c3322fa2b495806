import type { ResourceSlice } from "../../objects/authentication.ts";
import { LIQO_ANNOTATION } from "../../objects/labels.ts";
import type { NamespaceOffloading, VirtualNode } from "../../objects/offloading.ts";
import type { JobKind, JobState } from "../peering-job-runner.ts";
import type { PeeringMarker } from "../peering-store.ts";
import { planOffload } from "../plan-offload.ts";
import {
  isLiqoFinalizer,
  type ReservationObjects,
  type TeardownStage,
  type TeardownStep,
} from "../plan-teardown.ts";
import type { ReservationNode, ReservationPod } from "../reservation-nodes.ts";
import {
  aDesiredVirtualNode,
  aForeignCluster,
  aMarker,
  aNode,
  aSlice,
  aVirtualNode,
  NOW,
} from "./samples.ts";

/** What does not do as it should. */
export interface TeardownFaults {
  readonly stuckPods: boolean;
  readonly stuckVirtualNode: boolean;
  readonly stuckNode: boolean;
  readonly stuckSlice: boolean;
  readonly stuckOffloading: boolean;
  /** Of the provider's API server; liqoctl unpeer fails without it. */
  readonly isProviderGone: boolean;
  /** The provider borrows here, too. */
  readonly isConsumer: boolean;
  /** The first time liqoctl ends with 0 and has done nothing. */
  readonly doesNothing: boolean;
  /** Reservations that use the same peering. */
  readonly others: readonly string[];
}

export const NO_FAULTS: TeardownFaults = {
  stuckPods: false,
  stuckVirtualNode: false,
  stuckNode: false,
  stuckSlice: false,
  stuckOffloading: false,
  isProviderGone: false,
  isConsumer: false,
  doesNothing: false,
  others: [],
};

const desired = aDesiredVirtualNode({}, { namespaces: ["shop"] });
const DELETED = "2026-07-01T10:00:00Z";

type ObjectStep = Exclude<
  TeardownStep,
  { readonly kind: "wait" | "clean" | "strip" } | { readonly marker: unknown }
>;

/** A cluster with one loan in it, and as much of Liqo as takes it down again. */
export function teardownModel(faults: TeardownFaults) {
  const { id } = desired;
  let nowMs = 0;
  let isPeered = true;
  let unpeers = 0;
  let marker: PeeringMarker | undefined = aMarker([id, ...faults.others]);
  let slice: ResourceSlice | undefined = {
    ...aSlice(desired),
    metadata: { ...aSlice(desired).metadata, finalizers: ["crdreplicator.liqo.io/resource"] },
  };
  let virtualNode: VirtualNode | undefined = {
    ...aVirtualNode(desired),
    metadata: { ...aVirtualNode(desired).metadata, finalizers: ["virtualnode-controller.liqo.io/finalizer"] },
  };
  let node: ReservationNode | undefined = aNode(desired);
  let pods: ReservationPod[] = ["a", "b"].map((name) => ({
    metadata: { name, namespace: "shop" },
    spec: { nodeName: id },
  }));
  const step = planOffload(desired, [{ namespace: "shop", isThere: true, offloading: undefined }]);
  let offloading: NamespaceOffloading | undefined =
    step.kind === "write"
      ? {
          ...step.offloading,
          metadata: {
            ...step.offloading.metadata,
            finalizers: ["namespaceoffloading-controller.liqo.io/finalizer"],
          },
        }
      : undefined;
  let job: JobState = { kind: "none" };
  let running: { kind: JobKind; endsAt: number } | undefined;
  const since = new Map<TeardownStage, number>();
  const steps: TeardownStep[] = [];

  const deleted = <T extends { readonly metadata: object }>(object: T): T => ({
    ...object,
    metadata: { ...object.metadata, deletionTimestamp: DELETED },
  });
  const isGoing = (object: { readonly metadata: { readonly deletionTimestamp?: string } } | undefined) =>
    object?.metadata.deletionTimestamp !== undefined;

  /** Liqo's controllers and the kubelet do their part. */
  const settle = (): void => {
    if (!faults.stuckPods) pods = pods.filter((pod) => !isGoing(pod));
    if (isGoing(virtualNode) && !faults.stuckVirtualNode && pods.length === 0) {
      virtualNode = undefined;
      if (!faults.stuckNode) node = undefined;
    }
    if (isGoing(slice) && !faults.stuckSlice) slice = undefined;
    if (isGoing(offloading) && !faults.stuckOffloading) offloading = undefined;
  };

  const endJob = (): void => {
    if (running === undefined || nowMs < running.endsAt) return;
    const { kind } = running;
    running = undefined;
    if (kind === "unpeer" && faults.isProviderGone) {
      const obstacle = { reason: "PeeringFailed", message: "connection refused" };
      job = { kind: "failed", job: kind, obstacle, times: 1, retryInMs: 0 };
      return;
    }
    job = { kind: "done", job: kind, forMs: 0 };
    if (kind === "force-unpeer" || !faults.doesNothing || unpeers > 1) isPeered = false;
  };

  const applyUnpeer = (step: Extract<TeardownStep, { marker: unknown }>): void => {
    switch (step.kind) {
      case "unclaim":
      case "close":
        marker = faults.others.length === 0 ? undefined : aMarker(faults.others);
        break;
      case "begin-unpeer":
        marker = aMarker([id, ...faults.others], { isEnding: true });
        break;
      case "abort-peer":
        running = undefined;
        break;
      case "unpeer":
        unpeers++;
        running = { kind: step.isForced ? "force-unpeer" : "unpeer", endsAt: nowMs + 10_000 };
        break;
    }
  };

  const strip = ({ what, object }: Extract<TeardownStep, { kind: "strip" }>): void => {
    if (object.metadata.finalizers?.some(isLiqoFinalizer) !== true) throw new Error("nothing to strip");
    if (what === "slice") slice = undefined;
    else if (what === "virtual-node") virtualNode = undefined;
    else offloading = undefined;
  };

  const applyObjects = (step: ObjectStep): void => {
    switch (step.kind) {
      case "cordon":
        node = { ...step.node, spec: { unschedulable: true } };
        break;
      case "delete-pods":
        pods = step.isForced ? [] : pods.map(deleted);
        break;
      case "close-offloading":
        ({ offloading } = step);
        break;
      case "delete-offloading":
        offloading = deleted(step.offloading);
        break;
      case "shrink-offloading":
        offloading = undefined;
        break;
      case "stop-virtual-node": {
        const annotations = { [LIQO_ANNOTATION.createVirtualNode]: "false" };
        slice = { ...step.slice, metadata: { ...step.slice.metadata, annotations } };
        break;
      }
      case "delete-virtual-node":
        virtualNode = deleted(step.virtualNode);
        break;
      case "delete-node":
        node = undefined;
        break;
      case "delete-slice":
        slice = deleted(step.slice);
        break;
    }
  };

  const peering = (): ReservationObjects["peering"] => {
    if (marker === undefined || !marker.claims.includes(id)) return undefined;
    return {
      marker,
      slices: slice === undefined ? 0 : 1,
      slicesFrom: faults.isConsumer ? 1 : 0,
      foreignCluster: aForeignCluster(isPeered ? "Provider" : "Unknown", {
        isReachable: !faults.isProviderGone,
        silentSince: new Date(NOW).toISOString(),
      }),
      wallMs: NOW + nowMs,
      job: running === undefined ? job : { kind: "running", job: running.kind, forMs: 0 },
    };
  };

  return {
    id,
    steps,
    nowMs: () => nowMs,
    isPeered: () => isPeered,
    marker: () => marker,
    left: () => [slice, virtualNode, node, offloading].filter((object) => object !== undefined).length,
    pass: (ms: number): void => {
      nowMs += ms;
      if (job.kind === "done") job = { ...job, forMs: job.forMs + ms };
      settle();
      endJob();
    },
    objects: (): ReservationObjects => ({
      id,
      slices: slice === undefined ? [] : [slice],
      virtualNodes: virtualNode === undefined ? [] : [virtualNode],
      node,
      pods: node === undefined ? [] : pods,
      offloadings: offloading === undefined ? [] : [offloading],
      peering: peering(),
      waitedMs: (stage) => {
        if (!since.has(stage)) since.set(stage, nowMs);
        return nowMs - (since.get(stage) ?? nowMs);
      },
    }),
    apply: (step: TeardownStep): void => {
      steps.push(step);
      if ("marker" in step) applyUnpeer(step);
      else if (step.kind === "strip") strip(step);
      else if (step.kind !== "wait" && step.kind !== "clean") applyObjects(step);
    },
  };
}
