import { Fault, type ReservationInstruction, type ResourceRequest } from "@resource-broker/contract";
import type { DataPlaneState, DeliverySpec } from "../data-plane/data-plane.ts";
import type { ObjectEvent } from "../events/tell.ts";
import { MANAGER } from "../forge/labels.ts";
import type { Requeue } from "../reconcile.ts";
import type { CachedReservation } from "../reservations/reservation-book.ts";
import { RESERVATION_INSTRUCTIONS, type ReservationInstructionDeps } from "./borrowing-deps.ts";
import { type InstructionStatus, planDelivery } from "./plan-delivery.ts";

/** The objects whose status shows the reservation. */
export interface StatusTargets {
  readonly instruction: ReservationInstruction | undefined;
  readonly request: ResourceRequest | undefined;
}

type DeliveryDeps = Pick<
  ReservationInstructionDeps,
  "cache" | "client" | "communicator" | "dataPlane" | "clock" | "namespace" | "recordEvent"
>;

/** Has the data plane establish the resources, writes the status, and activates the reservation at the broker. */
export interface DeliveryReconciler {
  readonly step: (entry: CachedReservation, targets: StatusTargets) => Promise<Requeue>;
  /** The reservation is torn down: what was reported about its delivery is reset. */
  readonly reset: (reservationId: string) => void;
}

export function deliveryReconciler(deps: DeliveryDeps): DeliveryReconciler {
  const { cache, client, dataPlane, namespace } = deps;
  /** The problem that was last recorded, by reservation. */
  const reportedProblems = new Map<string, string>();

  const recordProblem = (
    id: string,
    state: DataPlaneState,
    regarding: ObjectEvent["regarding"] | undefined,
  ): void => {
    if (state.kind !== "working" || state.isStalled !== true) return void reportedProblems.delete(id);
    if (regarding === undefined || reportedProblems.get(id) === state.reason) return;
    reportedProblems.set(id, state.reason);
    deps.recordEvent({ regarding, type: "Warning", reason: "DataPlaneTrouble", message: state.message });
  };

  const write = async (
    id: string,
    instruction: ReservationInstruction | undefined,
    { state, status }: { state: DataPlaneState; status: InstructionStatus },
  ): Promise<ReservationInstruction> => {
    const written: ReservationInstruction = await client.patch(
      RESERVATION_INSTRUCTIONS,
      { name: { name: id, namespace }, patch: { kind: "merge", body: { status } } },
      { subresource: "status", fieldManager: MANAGER },
    );
    const { message } = state;
    const isNew = instruction?.status?.delivered !== true && status.delivered === true;
    if (isNew) deps.recordEvent({ regarding: written, type: "Normal", reason: "Delivered", message });
    return written;
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

  const step: DeliveryReconciler["step"] = async (entry, targets) => {
    const { id } = entry.reservation;
    const spec = deliverySpecOf(entry, targets.request);
    // Nothing new is made for a reservation that the broker does not know; existing objects are kept.
    const isKnownToBroker = entry.syncState !== "unknown";
    const state = await (isKnownToBroker ? dataPlane.establish(spec) : dataPlane.observe(spec));
    const { instruction } = targets;
    const plan = planDelivery({ entry, instruction, dataPlane: state, wallMs: deps.clock.wallMs() });
    const { status } = plan;
    const written = status === undefined ? instruction : await write(id, instruction, { state, status });
    recordProblem(id, state, targets.request ?? written);
    if (plan.activate) await activate(id);
    return plan.requeueAfterMs === undefined ? {} : { requeueAfterMs: plan.requeueAfterMs };
  };

  return { step, reset: (id) => void reportedProblems.delete(id) };
}

function deliverySpecOf(
  { reservation }: CachedReservation,
  request: ResourceRequest | undefined,
): DeliverySpec {
  const offload = request?.spec.offload;
  return { reservation, ...(offload === undefined ? {} : { offload }) };
}
