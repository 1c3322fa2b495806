import { type Clock, Fault } from "@resource-broker/base";
import type { ReservationInstruction, ResourceRequest } from "@resource-broker/contract/crd";
import type { KubeClient } from "@resource-broker/kube";
import type {
  DataPlaneState,
  DeliverySpec,
  ReleaseState,
  RequesterDataPlane,
} from "../data-plane/data-plane.ts";
import type { ObjectEvent, RecordEvent } from "../events/record-event.ts";
import { MANAGER, RESERVATION_INSTRUCTIONS } from "../manifests/labels.ts";
import type { Requeue } from "../reconcile.ts";
import type { CachedReservation, ReservationCache } from "../reservations/reservation-cache.ts";
import type { BrokerCommunicator } from "../transport/broker-communicator.ts";
import { type InstructionStatus, planDelivery, teardownStatus } from "./plan-reservation-instruction.ts";

/** The objects whose status shows the reservation. */
export interface StatusTargets {
  readonly instruction: ReservationInstruction | undefined;
  readonly request: ResourceRequest | undefined;
}

export interface DeliveryDeps {
  readonly cache: ReservationCache;
  readonly client: Pick<KubeClient, "patch" | "delete">;
  readonly communicator: Pick<BrokerCommunicator, "activate">;
  readonly dataPlane: RequesterDataPlane;
  readonly clock: Pick<Clock, "wallMs">;
  readonly recordEvent: RecordEvent;
  /** Called when the state of a release has changed. */
  readonly onReleaseState: (reservationId: string) => void;
  readonly namespace: string;
}

/** Has the data plane establish the resources, writes the status, and activates the reservation at the broker. */
export interface DeliveryReconciler {
  readonly step: (entry: CachedReservation, targets: StatusTargets) => Promise<Requeue>;
  /** The reservation is torn down: what was reported about its delivery is reset. */
  readonly reset: (reservationId: string) => void;
}

export function deliveryReconciler(deps: Omit<DeliveryDeps, "onReleaseState">): DeliveryReconciler {
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

type TeardownDeps = Omit<DeliveryDeps, "cache" | "communicator">;

/** Tears down what the data plane made, and deletes the instruction when nothing else is left. */
interface TeardownReconciler {
  readonly step: (reservationId: string, targets: StatusTargets) => Promise<Requeue>;
  readonly state: (reservationId: string) => ReleaseState | undefined;
  /** The reservation is live again, or objects of it were found: its release state is dropped. */
  readonly reset: (reservationId: string) => void;
  readonly ids: () => Iterable<string>;
}

export function teardownReconciler(deps: TeardownDeps): TeardownReconciler {
  const { client, dataPlane, namespace } = deps;
  const states = new Map<string, ReleaseState>();

  const setState = (id: string, state: ReleaseState, targets: StatusTargets): void => {
    const before = states.get(id);
    states.set(id, state);
    if (stageKey(before) === stageKey(state)) return;
    deps.onReleaseState(id);
    const regarding = targets.request ?? targets.instruction;
    if (regarding === undefined) return;
    if (state.kind === "working" && state.isStalled === true) {
      deps.recordEvent({ regarding, type: "Warning", reason: "CleanupTrouble", message: state.message });
    } else if (state.kind === "clean" && before !== undefined) {
      const message = `nothing of ${id} is left in this cluster`;
      deps.recordEvent({ regarding, type: "Normal", reason: "Cleaned", message });
    }
  };

  const writeStatus = async (
    id: string,
    { instruction }: StatusTargets,
    release: ReleaseState,
  ): Promise<void> => {
    const status = teardownStatus({ instruction, release, wallMs: deps.clock.wallMs() });
    if (status === undefined) return;
    const change = { name: { name: id, namespace }, patch: { kind: "merge", body: { status } } } as const;
    const options = { subresource: "status", fieldManager: MANAGER } as const;
    await client.patch(RESERVATION_INSTRUCTIONS, change, options).catch(ignoreNotFound);
  };

  return {
    step: async (id, targets) => {
      const release = await dataPlane.release(id);
      if (release.kind === "working") {
        setState(id, release, targets);
        await writeStatus(id, targets, release);
        return { requeueAfterMs: release.retryAfterMs };
      }
      if (targets.instruction !== undefined) {
        await client.delete(RESERVATION_INSTRUCTIONS, { name: id, namespace }).catch(ignoreNotFound);
      }
      setState(id, release, targets);
      return {};
    },
    state: (id) => states.get(id),
    reset: (id) => void states.delete(id),
    ids: () => [...states.keys()],
  };
}

/** The part of the state that events are recorded for: a stalled step counts as a new one. */
function stageKey(state: ReleaseState | undefined): string | undefined {
  if (state?.kind !== "working") return state?.kind;
  return state.isStalled === true ? `${state.reason}!` : state.reason;
}

function ignoreNotFound(error: unknown): undefined {
  if (!(error instanceof Fault) || error.code !== "not-found") throw error;
}
