import type { Reservation } from "@resource-broker/contract/crd";
import type { AdoptionOffer, ClusterId, Command, ReservationRequest } from "@resource-broker/domain";
import type { Refusal, ReservationStatus, StatusContext } from "../builders/reservation-status.ts";

/** The requested renewal: the text of the annotation and its parsed duration. */
export interface RenewalRequest {
  /** The annotation as it comes back in `status.renewed`. */
  readonly text: string;
  readonly durationMs?: number;
  readonly problem?: string;
}

/** A command of one of the parties. */
export type PartyCommand = Extract<Command, { readonly id: string }>;

/**
 * The next step for an object. After each step the object and the ledger are read again, so that a broker that crashes
 * between two steps continues correctly.
 */
export type Step =
  | { readonly kind: "done"; readonly requeueAfterMs?: number }
  /** Adds the finalizer before anything is reserved, and then decides the request, if there is one. */
  | { readonly kind: "add-finalizer"; readonly request?: ReservationRequest }
  | { readonly kind: "remove-finalizer" }
  | { readonly kind: "decide"; readonly request: ReservationRequest }
  | { readonly kind: "refuse"; readonly refused: Refusal }
  /** Submits a signal of one of the parties. */
  | { readonly kind: "submit"; readonly command: PartyCommand }
  | { readonly kind: "renew"; readonly renewal: RenewalRequest }
  /** The object was deleted: release the reservation, unless the namespace or the CRD is being deleted. */
  | { readonly kind: "release-deleted" }
  | { readonly kind: "set-parties"; readonly target: ClusterId }
  | { readonly kind: "write-status"; readonly status: ReservationStatus }
  | { readonly kind: "quote"; readonly request: ReservationRequest }
  | { readonly kind: "close-key" }
  | { readonly kind: "offer"; readonly by: ClusterId; readonly offer: AdoptionOffer }
  /** It was answered long enough ago. */
  | { readonly kind: "delete" };

export type Work = Exclude<Step, { readonly kind: "done" }>;
type WorkByKind = { readonly [K in Work["kind"]]: Extract<Work, { readonly kind: K }> };

/** Implementations of steps. Each returns whether the object should be planned again at once. */
export type StepsOf<Kind extends Work["kind"]> = {
  readonly [K in Kind]: (object: Reservation, step: WorkByKind[K]) => Promise<boolean>;
};

export function doStep<K extends Work["kind"]>(
  steps: StepsOf<K>,
  object: Reservation,
  step: WorkByKind[K] & { readonly kind: K },
): Promise<boolean> {
  return steps[step.kind](object, step);
}

/** An object and what the ledger knows. */
export interface ReservationState extends StatusContext {
  readonly object: Reservation;
  /** True: the policy has a quota for Reservations that name no requester. Otherwise none is served. */
  readonly mayBeUnnamed: boolean;
  /** Of an offer: this process has put it before the ledger not long ago. */
  readonly isOffered: boolean;
}
