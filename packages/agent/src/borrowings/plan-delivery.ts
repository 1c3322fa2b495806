import {
  fitToSchema,
  formatTime,
  type ReservationInstruction,
  reservationInstructionKind,
} from "@resource-broker/contract";
import type { DataPlaneState, ReleaseState } from "../data-plane/data-plane.ts";
import { type Said, saysTheSame, withConditions } from "../forge/conditions.ts";
import { unknownMessage, unknownToBroker } from "../forge/unknown-to-broker.ts";
import type { BookEntry } from "../reservations/reservation-book.ts";

export type InstructionStatus = NonNullable<ReservationInstruction["status"]>;

export interface DeliveryState {
  readonly entry: BookEntry;
  readonly instruction: ReservationInstruction | undefined;
  readonly dataPlane: DataPlaneState;
  /** Wall clock, for times in the status. */
  readonly wallMs: number;
}

export interface DeliveryPlan {
  /** Absent: the status is up to date. */
  readonly status?: InstructionStatus;
  /** True: the broker is to be told that the resources are in use. */
  readonly activate: boolean;
  readonly requeueAfterMs?: number;
}

/** There is no watch on virtual nodes: a ready one is checked again after this time. */
const READY_LOOK_MS = 30_000;

/** What follows from the state of the data plane. */
export function planDelivery({ entry, instruction, dataPlane, wallMs }: DeliveryState): DeliveryPlan {
  const isDelivered = dataPlane.kind !== "working";
  const { message, reason } = dataPlane;
  const peered = { ready: "True", off: "Unknown", working: "False" } as const;
  const said: readonly Said[] = [
    { type: "Peered", status: peered[dataPlane.kind], reason, message, isStep: true },
    unknownToBroker(entry),
  ];
  const status = statusOf(instruction, wallMs, {
    said,
    delivered: isDelivered,
    message: entry.standing === "unknown" ? unknownMessage(entry) : entry.reservation.status.message,
  });
  const canActivate = entry.standing === "confirmed" && entry.reservation.status.phase === "Reserved";
  return {
    ...(saysTheSame(instruction?.status, status) ? {} : { status }),
    activate: isDelivered && canActivate,
    ...lookAgain(dataPlane),
  };
}

function lookAgain(state: DataPlaneState): Pick<DeliveryPlan, "requeueAfterMs"> {
  if (state.kind === "working") return { requeueAfterMs: state.retryAfterMs };
  return state.kind === "ready" ? { requeueAfterMs: READY_LOOK_MS } : {};
}

export interface WithdrawalState {
  readonly instruction: ReservationInstruction | undefined;
  readonly release: ReleaseState;
  readonly wallMs: number;
}

/** The status of an instruction that is torn down; undefined: it is up to date, or the instruction is gone. */
export function withdrawalStatus({
  instruction,
  release,
  wallMs,
}: WithdrawalState): InstructionStatus | undefined {
  if (instruction === undefined || release.kind === "clean") return undefined;
  const { reason, message } = release;
  const status = statusOf(instruction, wallMs, {
    said: [
      { type: "Peered", status: "False", reason: "Releasing", message: "the resources are being released" },
      { type: "Clean", status: "False", reason, message, isStep: true },
    ],
    delivered: false,
    message,
  });
  return saysTheSame(instruction.status, status) ? undefined : status;
}

function statusOf(
  instruction: ReservationInstruction | undefined,
  wallMs: number,
  { said, delivered, message }: { said: readonly Said[]; delivered: boolean; message: string },
): InstructionStatus {
  const now = formatTime(wallMs);
  return fitToSchema(reservationInstructionKind.status, {
    delivered,
    message,
    lastUpdateTime: now,
    conditions: withConditions(instruction?.status?.conditions, said, {
      now,
      observedGeneration: instruction?.metadata.generation,
    }),
  });
}
