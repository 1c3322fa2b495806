import { Fault } from "@resource-broker/base";
import type { ReservationInstruction, ResourceRequest } from "@resource-broker/contract/crd";
import type { ReconcileResult } from "@resource-broker/kube";
import type { AgentParts } from "../core/agent-deps.ts";
import type { DataPlaneState, DeliverySpec, ReleaseState } from "../data-plane/data-plane.ts";
import { ignoring } from "../faults.ts";
import { noticeText, shownNotice, WITHDRAWN } from "../manifests/conditions.ts";
import { RESERVATION_INSTRUCTIONS } from "../manifests/labels.ts";
import { applyOwn, patchStatus } from "../manifests/writes.ts";
import { earliestRequeue } from "../reconcile.ts";
import type { CachedReservation } from "../reservations/reservation-cache.ts";
import { noticeEvents } from "./notice-events.ts";
import {
  planDelivery,
  planReservationInstruction,
  type ReservationInstructionPlan,
  teardownStatus,
} from "./plan-reservation-instruction.ts";

/** The ResourceRequest that a reservation was made for, if any. */
export type Origin =
  | { readonly kind: "request"; readonly request: ResourceRequest }
  /** Made by an admin, or as an object in the broker's cluster: there is no ResourceRequest here. */
  | { readonly kind: "foreign" }
  | { readonly kind: "gone" };

interface ReservationInstructionDeps extends AgentParts {
  readonly namespace: string;
  readonly originOf: (entry: CachedReservation) => Origin;
  /** Called when the state of a release has changed. */
  readonly onReleaseState: (reservationId: string) => void;
}

/** The objects whose status shows the reservation. */
interface StatusTargets {
  readonly instruction: ReservationInstruction | undefined;
  readonly request: ResourceRequest | undefined;
}

/** The requester's side: creates the ReservationInstruction and has the data plane deliver the resources. */
export function reservationInstructionController(deps: ReservationInstructionDeps) {
  const { cache, client, namespace, recordEvent } = deps;
  const dataPlane = deps.dataPlane.requester;
  /** Data plane objects that no live reservation needs. */
  const orphans = new Set<string>();
  /** The problem of the delivery that was last recorded, by reservation. */
  const reportedProblems = new Map<string, string>();
  /** The notice that events were last recorded for, by reservation; the informer may not show it in the instruction yet. */
  const recordedNotices = new Map<string, string | undefined>();
  /** State of the release of ended reservations. */
  const releases = new Map<string, ReleaseState>();
  const nameOf = (id: string) => ({ name: id, namespace });
  const instructionOf = deps.objects.reservationInstruction;

  const reconcile = async (id: string): Promise<ReconcileResult> => {
    const entry = cache.get("requester", id);
    if (entry === undefined) return tearDownOrphan(id);
    const origin = deps.originOf(entry);
    const request = origin.kind === "request" ? origin.request : undefined;
    const instruction = instructionOf(id);
    const plan = planReservationInstruction({
      entry,
      instruction,
      namespace,
      request,
      isOrphan: origin.kind === "gone",
      isTornDown: releases.get(id)?.kind === "clean",
      broker: deps.link.view(),
    });
    return execute(plan, entry, { instruction, request });
  };

  /** The cache does not have it, and the broker does not know it. */
  const tearDownOrphan = async (id: string): Promise<ReconcileResult> => {
    if (!orphans.has(id)) return {};
    const next = await tearDown(id, { instruction: instructionOf(id), request: undefined });
    if (releases.get(id)?.kind === "clean") {
      orphans.delete(id);
      releases.delete(id);
    }
    return next;
  };

  const execute = async (
    plan: ReservationInstructionPlan,
    entry: CachedReservation,
    { instruction: found, request }: StatusTargets,
  ): Promise<ReconcileResult> => {
    const { id } = entry.reservation;
    let instruction = found;
    let next: ReconcileResult = plan;
    for (const action of plan.actions) {
      switch (action.kind) {
        case "apply":
          instruction = await applyOwn(client, RESERVATION_INSTRUCTIONS, action.instruction);
          break;
        case "deliver":
          releases.delete(id);
          next = earliestRequeue(next, await deliver(entry, { instruction, request }));
          break;
        case "expire-locally":
          cache.endLocally(id, "Expired");
          break;
        case "tear-down":
          reportedProblems.delete(id);
          recordedNotices.delete(id);
          next = earliestRequeue(next, await tearDown(id, { instruction, request }));
          break;
      }
    }
    return next;
  };

  /** Has the data plane establish the resources, writes the status, and activates the reservation at the broker. */
  const deliver = async (entry: CachedReservation, targets: StatusTargets): Promise<ReconcileResult> => {
    const { id } = entry.reservation;
    const spec = deliverySpecOf(entry, targets.request);
    // Nothing new is made for a reservation that the broker does not know; existing objects are kept.
    const isKnownToBroker = entry.syncState !== "unknown";
    const state = await (isKnownToBroker ? dataPlane.establish(spec) : dataPlane.observe(spec));
    await recordNotice(entry, targets);
    const { instruction } = targets;
    const plan = planDelivery({ entry, instruction, dataPlane: state, wallMs: deps.clock.wallMs() });
    let written = instruction;
    if (plan.status !== undefined) {
      written = await patchStatus(client, RESERVATION_INSTRUCTIONS, {
        name: nameOf(id),
        status: plan.status,
      });
      const isNew = instruction?.status?.delivered !== true && plan.status.delivered === true;
      const { message } = state;
      if (isNew) recordEvent({ regarding: written, type: "Normal", reason: "Delivered", message });
    }
    recordProblem(id, state, { instruction: written, request: targets.request });
    if (plan.activate) await activate(id);
    return plan;
  };

  /** Before the status that says so: after a crash in between, there are two events rather than none. */
  const recordNotice = async ({ reservation }: CachedReservation, targets: StatusTargets): Promise<void> => {
    const { id } = reservation;
    const regarding = targets.request ?? targets.instruction;
    const before = recordedNotices.has(id)
      ? recordedNotices.get(id)
      : shownNotice(targets.instruction?.status);
    const now = noticeText(reservation);
    if (regarding === undefined || now === before) return;
    const pods = await dataPlane.listPods(id);
    for (const event of noticeEvents({ id, now }, regarding, pods)) recordEvent(event);
    deps.log.info({ reservation: id, pods: pods.length }, now ?? WITHDRAWN);
    recordedNotices.set(id, now);
  };

  const recordProblem = (id: string, state: DataPlaneState, targets: StatusTargets): void => {
    if (state.kind !== "working" || state.isStalled !== true) return void reportedProblems.delete(id);
    const regarding = targets.request ?? targets.instruction;
    if (regarding === undefined || reportedProblems.get(id) === state.reason) return;
    reportedProblems.set(id, state.reason);
    recordEvent({ regarding, type: "Warning", reason: "DataPlaneTrouble", message: state.message });
  };

  const activate = async (id: string): Promise<void> => {
    try {
      cache.update("requester", await deps.communicator.activate(id));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      if (error.code === "unsupported") return; // older brokers have no activation: the reservation stays Reserved
      if (error.code === "not-found") return cache.markUnknown(id);
      if (error.code !== "already-ended") throw error; // the end arrives on the event stream
    }
  };

  /** Tears down what the data plane made, and deletes the instruction when nothing else is left. */
  const tearDown = async (id: string, targets: StatusTargets): Promise<ReconcileResult> => {
    const { instruction } = targets;
    const release = await dataPlane.release(id);
    if (release.kind === "working") {
      setReleaseState(id, release, targets);
      const status = teardownStatus({ instruction, release, wallMs: deps.clock.wallMs() });
      if (status !== undefined) {
        const name = nameOf(id);
        await patchStatus(client, RESERVATION_INSTRUCTIONS, { name, status }).catch(ignoring("not-found"));
      }
      return { requeueAfterMs: release.retryAfterMs };
    }
    if (instruction !== undefined) {
      await client.delete(RESERVATION_INSTRUCTIONS, nameOf(id)).catch(ignoring("not-found"));
    }
    setReleaseState(id, release, targets);
    return {};
  };

  const setReleaseState = (id: string, state: ReleaseState, targets: StatusTargets): void => {
    const before = releases.get(id);
    releases.set(id, state);
    if (stageKey(before) === stageKey(state)) return;
    deps.onReleaseState(id);
    const regarding = targets.request ?? targets.instruction;
    if (regarding === undefined) return;
    if (state.kind === "working" && state.isStalled === true) {
      recordEvent({ regarding, type: "Warning", reason: "CleanupTrouble", message: state.message });
    } else if (state.kind === "clean" && before !== undefined) {
      const message = `nothing of ${id} is left in this cluster`;
      recordEvent({ regarding, type: "Normal", reason: "Cleaned", message });
    }
  };

  return {
    reconcile,
    /** State of the release of an ended reservation; undefined: the release has not begun. */
    releaseState: (id: string) => releases.get(id),
    /** Marks data plane objects that no live reservation needs; the next reconcile checks them again. */
    markOrphan: (id: string): void => {
      if (cache.get("requester", id) === undefined) orphans.add(id);
      else if (releases.get(id)?.kind === "clean") releases.delete(id);
    },
    /** Drops the release state of reservations that are no longer in the cache. */
    prune: (): void => {
      for (const id of releases.keys()) {
        if (cache.get("requester", id) === undefined && !orphans.has(id)) releases.delete(id);
      }
    },
  };
}

function deliverySpecOf(
  { reservation }: CachedReservation,
  request: ResourceRequest | undefined,
): DeliverySpec {
  const offload = request?.spec.offload;
  return { reservation, ...(offload === undefined ? {} : { offload }) };
}

/** The part of the state that events are recorded for: a stalled step counts as a new one. */
function stageKey(state: ReleaseState | undefined): string | undefined {
  if (state?.kind !== "working") return state?.kind;
  return state.isStalled === true ? `${state.reason}!` : state.reason;
}
