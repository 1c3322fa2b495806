import {
  type ReservationInstruction,
  type ResourceRequest,
  reservationInstructionKind,
} from "@resource-broker/contract/crd";
import type { DataPlaneState, ReleaseState } from "../data-plane/data-plane.ts";
import {
  type ConditionUpdate,
  isSameStatus,
  noticeCondition,
  noticeOver,
  unknownMessage,
  statusOf,
  unknownToBrokerCondition,
} from "../manifests/conditions.ts";
import { isSameInstruction, reservationInstruction } from "../manifests/instructions.ts";
import { type BrokerView, expiryOf } from "../reservations/expiry.ts";
import { withWrittenDefaults } from "../reservations/reservation.ts";
import type { CachedReservation } from "../reservations/reservation-cache.ts";

export type InstructionStatus = NonNullable<ReservationInstruction["status"]>;

export interface DeliveryState {
  readonly entry: CachedReservation;
  readonly instruction: ReservationInstruction | undefined;
  readonly dataPlane: DataPlaneState;
  /** Wall clock, for times in the status. */
  readonly wallMs: number;
}

export interface DeliveryPlan {
  /** Absent: the status is up to date. */
  readonly status?: InstructionStatus;
  /** True: the reservation is to be activated at the broker. */
  readonly activate: boolean;
  readonly requeueAfterMs?: number;
}

/** There is no watch on virtual nodes: a ready one is checked again after this time. */
const READY_RECHECK_MS = 30_000;

/** What follows from the state of the data plane. */
export function planDelivery({ entry, instruction, dataPlane, wallMs }: DeliveryState): DeliveryPlan {
  const isDelivered = dataPlane.kind !== "working";
  const { message, reason } = dataPlane;
  const peered = { ready: "True", off: "Unknown", working: "False" } as const;
  const updates: readonly ConditionUpdate[] = [
    { type: "Peered", status: peered[dataPlane.kind], reason, message, isStep: true },
    unknownToBrokerCondition(entry),
    ...noticeCondition(entry.reservation, instruction?.status),
  ];
  const status = nextStatus(instruction, wallMs, {
    updates,
    delivered: isDelivered,
    message: entry.syncState === "unknown" ? unknownMessage(entry) : entry.reservation.message,
  });
  const canActivate = entry.syncState === "confirmed" && entry.reservation.phase === "Reserved";
  return {
    ...(isSameStatus(instruction?.status, status) ? {} : { status }),
    activate: isDelivered && canActivate,
    ...requeueFor(dataPlane),
  };
}

function requeueFor(state: DataPlaneState): Pick<DeliveryPlan, "requeueAfterMs"> {
  if (state.kind === "working") return { requeueAfterMs: state.retryAfterMs };
  return state.kind === "ready" ? { requeueAfterMs: READY_RECHECK_MS } : {};
}

export interface TeardownState {
  readonly instruction: ReservationInstruction | undefined;
  readonly release: ReleaseState;
  readonly wallMs: number;
}

/** The status of an instruction that is torn down; undefined: it is up to date, or the instruction is gone. */
export function teardownStatus({
  instruction,
  release,
  wallMs,
}: TeardownState): InstructionStatus | undefined {
  if (instruction === undefined || release.kind === "clean") return undefined;
  const { reason, message } = release;
  const status = nextStatus(instruction, wallMs, {
    updates: [
      { type: "Peered", status: "False", reason: "Releasing", message: "the resources are being released" },
      { type: "Clean", status: "False", reason, message, isStep: true },
      ...noticeOver(instruction.status),
    ],
    delivered: false,
    message,
  });
  return isSameStatus(instruction.status, status) ? undefined : status;
}

function nextStatus(
  instruction: ReservationInstruction | undefined,
  wallMs: number,
  { updates, ...fields }: InstructionStatus & { readonly updates: readonly ConditionUpdate[] },
): InstructionStatus {
  const observedGeneration = instruction?.metadata.generation;
  const update = { before: instruction?.status, updates, observedGeneration, wallMs };
  return statusOf(reservationInstructionKind.status, fields, update);
}

export interface ReservationInstructionState {
  readonly entry: CachedReservation;
  readonly instruction: ReservationInstruction | undefined;
  readonly namespace: string;
  /** The ResourceRequest that the reservation was made for. */
  readonly request: ResourceRequest | undefined;
  /** True: the ResourceRequest is gone, so the reservation is about to be released. */
  readonly isOrphan: boolean;
  /** True: the data plane has no objects of it left, as far as is known. */
  readonly isTornDown: boolean;
  readonly broker: BrokerView;
}

type ReservationInstructionAction =
  | { readonly kind: "apply"; readonly instruction: ReservationInstruction }
  /** Establish the resources, write the status, and activate the reservation at the broker. */
  | { readonly kind: "deliver" }
  | { readonly kind: "expire-locally" }
  | { readonly kind: "tear-down" };

export interface ReservationInstructionPlan {
  readonly actions: readonly ReservationInstructionAction[];
  readonly requeueAfterMs?: number;
}

/** What a requester does about one reservation. */
export function planReservationInstruction(state: ReservationInstructionState): ReservationInstructionPlan {
  const { entry, instruction, namespace, request, isOrphan, isTornDown } = state;
  // The garbage collector deletes the instruction together with its request; data plane objects may still exist.
  const isGone = instruction === undefined && isTornDown;
  const teardown: readonly ReservationInstructionAction[] = isGone ? [] : [{ kind: "tear-down" }];
  if (entry.endedAt !== undefined) return { actions: teardown };
  const expiry = expiryOf(entry, state.broker);
  if (expiry.kind === "over") return { actions: [{ kind: "expire-locally" }, ...teardown] };
  const later = expiry.kind === "later" ? { requeueAfterMs: expiry.inMs } : {};
  if (isOrphan || hasOtherProvider(entry, instruction)) return { actions: teardown, ...later };
  const desired = reservationInstruction(
    withWrittenDefaults(entry.reservation, instruction),
    namespace,
    request,
  );
  const isUpToDate = instruction !== undefined && isSameInstruction(instruction, desired);
  return {
    actions: [...(isUpToDate ? [] : [{ kind: "apply", instruction: desired } as const]), { kind: "deliver" }],
    ...later,
  };
}

/** A broker that lost its ledger may grant the same key at another provider: the first delivery is torn down. */
function hasOtherProvider(
  { reservation }: CachedReservation,
  instruction: ReservationInstruction | undefined,
): boolean {
  return instruction !== undefined && instruction.spec.targetClusterID !== reservation.provider;
}
