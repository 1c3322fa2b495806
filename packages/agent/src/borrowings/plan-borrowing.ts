import type { ReservationInstruction, ResourceRequest } from "@resource-broker/contract";
import { reservationInstruction } from "../forge/instructions.ts";
import { isSameInstruction } from "../forge/is-same-instruction.ts";
import { type BrokerView, expiryOf } from "../reservations/expiry.ts";
import type { CachedReservation } from "../reservations/reservation-book.ts";
import { withWrittenDefaults } from "../reservations/slice-defaults.ts";

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

export type ReservationInstructionAction =
  | { readonly kind: "put"; readonly instruction: ReservationInstruction }
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
    actions: [...(isUpToDate ? [] : [{ kind: "put", instruction: desired } as const]), { kind: "deliver" }],
    ...later,
  };
}

/** A broker that lost its ledger may grant the same key at another provider: the first delivery is torn down. */
function hasOtherProvider(
  { reservation }: CachedReservation,
  instruction: ReservationInstruction | undefined,
): boolean {
  return instruction !== undefined && instruction.spec.targetClusterID !== reservation.targetClusterID;
}
