import { formatTime, type ReservationInstruction, type ResourceRequest } from "@resource-broker/contract";
import type { DataPlaneState } from "../data-plane/data-plane.ts";
import { type Said, saysTheSame, withConditions } from "../forge/conditions.ts";
import { reservationInstruction } from "../forge/instructions.ts";
import { isSameInstruction } from "../forge/is-same-instruction.ts";
import { UNKNOWN_TO_BROKER, unknownToBroker } from "../forge/unknown-to-broker.ts";
import { type BrokerView, expiryOf } from "../reservations/expiry.ts";
import type { BookEntry } from "../reservations/reservation-book.ts";

export interface BorrowingState {
  readonly entry: BookEntry | undefined;
  readonly instruction: ReservationInstruction | undefined;
  readonly namespace: string;
  /** The ResourceRequest it was asked with. */
  readonly request: ResourceRequest | undefined;
  /** True: it was asked with a ResourceRequest that is gone; it is about to be released. */
  readonly isOrphan: boolean;
  readonly broker: BrokerView;
}

export type BorrowingAction =
  | { readonly kind: "put"; readonly instruction: ReservationInstruction }
  /** Bring the resources into the cluster, say so, and tell the broker once they are there. */
  | { readonly kind: "deliver" }
  | { readonly kind: "end-here" }
  | { readonly kind: "withdraw" };

export interface BorrowingPlan {
  readonly actions: readonly BorrowingAction[];
  readonly requeueAfterMs?: number;
}

/** What a requester does about one reservation. */
export function planBorrowing(state: BorrowingState): BorrowingPlan {
  const { entry, instruction, namespace, request, isOrphan } = state;
  if (entry === undefined) return { actions: [] };
  const withdrawal: readonly BorrowingAction[] = instruction === undefined ? [] : [{ kind: "withdraw" }];
  if (entry.endedAt !== undefined) return { actions: withdrawal };
  const expiry = expiryOf(entry, state.broker);
  if (expiry.kind === "over") return { actions: [{ kind: "end-here" }, ...withdrawal] };
  const later = expiry.kind === "later" ? { requeueAfterMs: expiry.inMs } : {};
  if (isOrphan) return { actions: withdrawal, ...later };
  const wanted = reservationInstruction(entry.reservation, namespace, request);
  const isWritten = instruction !== undefined && isSameInstruction(instruction, wanted);
  return {
    actions: [...(isWritten ? [] : [{ kind: "put", instruction: wanted } as const]), { kind: "deliver" }],
    ...later,
  };
}

export type InstructionStatus = NonNullable<ReservationInstruction["status"]>;

export interface DeliveryState {
  readonly entry: BookEntry;
  readonly instruction: ReservationInstruction | undefined;
  readonly dataPlane: DataPlaneState;
  /** Wall clock, for times that are shown. */
  readonly wallMs: number;
}

export interface DeliveryPlan {
  /** Absent: it says the right thing already. */
  readonly status?: InstructionStatus;
  /** True: the broker shall hear that the resources are in use. */
  readonly activate: boolean;
  readonly requeueAfterMs?: number;
}

/** What follows from how far the data plane has come. */
export function planDelivery({ entry, instruction, dataPlane, wallMs }: DeliveryState): DeliveryPlan {
  const now = formatTime(wallMs);
  const isDelivered = dataPlane.kind !== "working";
  const { message, reason } = dataPlane;
  const peered = { ready: "True", off: "Unknown", working: "False" } as const;
  const said: readonly Said[] = [
    { type: "Peered", status: peered[dataPlane.kind], reason, message },
    unknownToBroker(entry),
  ];
  const status: InstructionStatus = {
    delivered: isDelivered,
    message: entry.standing === "unknown" ? UNKNOWN_TO_BROKER : entry.reservation.status.message,
    lastUpdateTime: now,
    conditions: withConditions(instruction?.status?.conditions, said, {
      now,
      observedGeneration: instruction?.metadata.generation,
    }),
  };
  const canActivate = entry.standing === "confirmed" && entry.reservation.status.phase === "Reserved";
  return {
    ...(saysTheSame(instruction?.status, status) ? {} : { status }),
    activate: isDelivered && canActivate,
    ...(dataPlane.kind === "working" ? { requeueAfterMs: dataPlane.retryAfterMs } : {}),
  };
}
