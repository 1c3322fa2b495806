import type { ReservationInstruction, ResourceRequest } from "@resource-broker/contract";
import { reservationInstruction } from "../forge/instructions.ts";
import { isSameInstruction } from "../forge/is-same-instruction.ts";
import { type BrokerView, expiryOf } from "../reservations/expiry.ts";
import type { BookEntry } from "../reservations/reservation-book.ts";
import { asWritten } from "../reservations/slice-defaults.ts";

export interface BorrowingState {
  readonly entry: BookEntry;
  readonly instruction: ReservationInstruction | undefined;
  readonly namespace: string;
  /** The ResourceRequest that the reservation was made for. */
  readonly request: ResourceRequest | undefined;
  /** True: the ResourceRequest is gone, so the reservation is about to be released. */
  readonly isOrphan: boolean;
  /** True: the data plane has no objects of it left, as far as is known. */
  readonly isCleared: boolean;
  readonly broker: BrokerView;
}

export type BorrowingAction =
  | { readonly kind: "put"; readonly instruction: ReservationInstruction }
  /** Establish the resources, write the status, and activate the reservation at the broker. */
  | { readonly kind: "deliver" }
  | { readonly kind: "end-here" }
  | { readonly kind: "withdraw" };

export interface BorrowingPlan {
  readonly actions: readonly BorrowingAction[];
  readonly requeueAfterMs?: number;
}

/** What a requester does about one reservation. */
export function planBorrowing(state: BorrowingState): BorrowingPlan {
  const { entry, instruction, namespace, request, isOrphan, isCleared } = state;
  // The garbage collector deletes the instruction together with its request; data plane objects may still exist.
  const isGone = instruction === undefined && isCleared;
  const withdrawal: readonly BorrowingAction[] = isGone ? [] : [{ kind: "withdraw" }];
  if (entry.endedAt !== undefined) return { actions: withdrawal };
  const expiry = expiryOf(entry, state.broker);
  if (expiry.kind === "over") return { actions: [{ kind: "end-here" }, ...withdrawal] };
  const later = expiry.kind === "later" ? { requeueAfterMs: expiry.inMs } : {};
  if (isOrphan || isElsewhere(entry, instruction)) return { actions: withdrawal, ...later };
  const wanted = reservationInstruction(asWritten(entry.reservation, instruction), namespace, request);
  const isWritten = instruction !== undefined && isSameInstruction(instruction, wanted);
  return {
    actions: [...(isWritten ? [] : [{ kind: "put", instruction: wanted } as const]), { kind: "deliver" }],
    ...later,
  };
}

/** A broker that lost its ledger may grant the same key at another provider: the first delivery is torn down. */
function isElsewhere({ reservation }: BookEntry, instruction: ReservationInstruction | undefined): boolean {
  return instruction !== undefined && instruction.spec.targetClusterID !== reservation.targetClusterID;
}
