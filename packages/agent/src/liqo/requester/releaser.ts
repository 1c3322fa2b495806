import type { Clock, Log } from "@resource-broker/base";
import type { KubeClient, Resource } from "@resource-broker/kube";
import type { ReleaseState } from "../../data-plane/data-plane.ts";
import { MANAGER } from "../../manifests/labels.ts";
import { RESOURCE_SLICES } from "../objects/authentication.ts";
import { LIQO_ANNOTATION } from "../objects/labels.ts";
import { NAMESPACE_OFFLOADINGS, VIRTUAL_NODES } from "../objects/offloading.ts";
import type { PeeringJobFactory } from "./peering-job-factory.ts";
import type { PeeringJobRunner } from "./peering-job-runner.ts";
import type { PeeringStore } from "./peering-store.ts";
import { isLiqoFinalizer, planTeardown, type TeardownStage, type TeardownStep } from "./plan-teardown.ts";
import type { UnpeerStep } from "./plan-unpeer.ts";
import { afterFault, stepTaken, waiting } from "./progress.ts";
import {
  RELEASING_ANNOTATION,
  RESERVATION_NODES,
  RESERVATION_PODS,
  type ReservationPod,
} from "./reservation-nodes.ts";
import type { ReadReservationObjects } from "./reservation-objects.ts";

export interface ReleaserDeps {
  readonly client: Pick<KubeClient, "update" | "patch" | "delete">;
  readonly readObjects: ReadReservationObjects;
  readonly peerings: PeeringStore;
  readonly jobs: PeeringJobRunner;
  readonly jobFactory: PeeringJobFactory;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly log: Log;
}

type UnpeerWrite = Extract<UnpeerStep, { readonly marker: unknown }>;
type Write = Exclude<TeardownStep, { readonly kind: "wait" | "clean" } | UnpeerWrite>;

/** A stage that was not checked for this long starts again: the API server was away, or the reservation was live again. */
const STALE_WAIT_MS = 60_000;
const OPTIONS = { fieldManager: MANAGER } as const;
const CORDONED = {
  metadata: { annotations: { [RELEASING_ANNOTATION]: "true" } },
  spec: { unschedulable: true },
};
const STRIPPED: Readonly<Record<"slice" | "virtual-node" | "offloading", Resource<unknown>>> = {
  slice: RESOURCE_SLICES,
  "virtual-node": VIRTUAL_NODES,
  offloading: NAMESPACE_OFFLOADINGS,
};

/** Removes the objects of a reservation, step by step. The objects are read for each step; only waiting times are kept. */
export function releaser(deps: ReleaserDeps): (reservationId: string) => Promise<ReleaseState> {
  const { client, peerings, jobs, jobFactory, clock, log } = deps;
  const begun = new Map<string, Map<TeardownStage, { readonly since: number; readonly seen: number }>>();

  const waitedMs = (id: string, stage: TeardownStage): number => {
    const stages = begun.get(id) ?? new Map<TeardownStage, { since: number; seen: number }>();
    begun.set(id, stages);
    const now = clock.monotonicMs();
    const { since, seen } = stages.get(stage) ?? { since: now, seen: now };
    const isStale = now - seen > STALE_WAIT_MS;
    stages.set(stage, { since: isStale ? now : since, seen: now });
    return isStale ? 0 : now - since;
  };

  const deletePods = async (pods: readonly ReservationPod[], isForced: boolean): Promise<void> => {
    for (const { metadata } of pods) {
      const { name, namespace = "", uid } = metadata;
      await client.delete(
        RESERVATION_PODS,
        { name, namespace },
        { ...(uid === undefined ? {} : { uid }), ...(isForced ? { gracePeriodSeconds: 0 } : {}) },
      );
    }
  };

  const perform = async (step: Write): Promise<ReleaseState> => {
    switch (step.kind) {
      case "cordon":
        await client.patch(RESERVATION_NODES, merge(step.node, CORDONED), OPTIONS);
        return stepTaken("Cordoned", `Node ${step.node.metadata.name} is cordoned`);
      case "delete-pods":
        await deletePods(step.pods, step.isForced);
        return step.isForced
          ? waiting({ reason: "ForcingPods", message: stuckPodsText(step.pods), isStalled: true })
          : stepTaken("Draining", `${step.pods.length} pods are being deleted`);
      case "close-offloading":
        await client.update(NAMESPACE_OFFLOADINGS, step.offloading, OPTIONS);
        return stepTaken(
          "Unoffloading",
          `new pods of ${nameOf(step.offloading).namespace} are no longer offloaded to the provider`,
        );
      case "shrink-offloading":
        await client.update(NAMESPACE_OFFLOADINGS, step.offloading, OPTIONS);
        return stepTaken("Unoffloading", "other reservations still use the namespace's offloading");
      case "delete-offloading":
        await client.delete(NAMESPACE_OFFLOADINGS, nameOf(step.offloading));
        return stepTaken("Unoffloading", `${nameOf(step.offloading).namespace} is no longer offloaded`);
      case "stop-virtual-node": {
        const annotations = { [LIQO_ANNOTATION.createVirtualNode]: "false" };
        await client.patch(RESOURCE_SLICES, merge(step.slice, { metadata: { annotations } }), OPTIONS);
        return stepTaken("VirtualNodeLeaving", "Liqo will not create the virtual node again");
      }
      case "delete-virtual-node":
        await client.delete(VIRTUAL_NODES, nameOf(step.virtualNode));
        return stepTaken("VirtualNodeLeaving", `VirtualNode ${step.virtualNode.metadata.name} was deleted`);
      case "delete-node":
        await client.delete(RESERVATION_NODES, nameOf(step.node));
        return stepTaken(
          "NodeLeaving",
          `Node ${step.node.metadata.name} was deleted by the agent, because Liqo did not`,
        );
      case "delete-slice":
        await client.delete(RESOURCE_SLICES, nameOf(step.slice));
        return stepTaken("SliceLeaving", `ResourceSlice ${step.slice.metadata.name} was deleted`);
      case "strip":
        return strip(step);
    }
  };

  const strip = async ({ what, object }: Extract<Write, { kind: "strip" }>): Promise<ReleaseState> => {
    const finalizers = object.metadata.finalizers?.filter((finalizer) => !isLiqoFinalizer(finalizer)) ?? [];
    const named = { what, ...nameOf(object), finalizers: object.metadata.finalizers };
    log.warn(named, "Liqo does not remove its finalizers from an object: the agent removes them");
    await client.patch(STRIPPED[what], merge(object, { metadata: { finalizers } }), OPTIONS);
    const message = `Liqo did not remove its finalizers from ${object.kind} ${object.metadata.name}: the agent removed them`;
    return { ...stepTaken("Forced", message), isStalled: true };
  };

  const performUnpeer = async (id: string, step: UnpeerWrite): Promise<ReleaseState> => {
    const { marker } = step;
    const { liqoId, clusterId } = marker;
    const others = marker.claims.filter((claim) => claim !== id);
    switch (step.kind) {
      case "unclaim":
      case "close":
        // A peering that only users' slices need is not this agent's any more.
        if (others.length === 0) await peerings.drop(marker);
        else await peerings.change(marker, { unclaim: id, isEnding: false });
        // The next peering starts without the old failures.
        if (others.length === 0) jobs.forget(liqoId);
        return stepTaken("Unpeering", `the reservation no longer needs the peering with ${clusterId}`);
      case "abort-peer":
        jobs.abort(liqoId);
        return stepTaken("Unpeering", `the running liqoctl peer with ${clusterId} is stopped`);
      case "begin-unpeer":
        await peerings.change(marker, { isEnding: true });
        return stepTaken("Unpeering", `about to unpeer from ${clusterId}`);
      case "unpeer":
        jobs.start(liqoId, step.isForced ? jobFactory.forceUnpeer(liqoId) : jobFactory.unpeer(marker));
        return stepTaken("Unpeering", `liqoctl unpeers from ${clusterId}${step.isForced ? " by force" : ""}`);
    }
  };

  return async (id) => {
    try {
      const objects = await deps.readObjects(id);
      const step = planTeardown({ ...objects, waitedMs: (stage) => waitedMs(id, stage) });
      if (step.kind === "wait") return waiting(step);
      if ("marker" in step) return await performUnpeer(id, step);
      if (step.kind !== "clean") return await perform(step);
      begun.delete(id);
      return step;
    } catch (error) {
      return afterFault(error);
    }
  };
}

interface Owned {
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

function nameOf({ metadata: { name, namespace } }: Owned): { name: string; namespace?: string } {
  return { name, ...(namespace === undefined ? {} : { namespace }) };
}

function merge(object: Owned, body: object) {
  return { name: nameOf(object), patch: { kind: "merge", body } } as const;
}

function stuckPodsText(pods: readonly ReservationPod[]): string {
  const names = pods.slice(0, 5).map(({ metadata }) => `${metadata.namespace ?? ""}/${metadata.name}`);
  return `${pods.length} pods did not terminate in time and are deleted by force: ${names.join(", ")}`;
}
