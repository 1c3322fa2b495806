import type { Reservation } from "@resource-broker/contract";
import type { AdoptionOffer, ClusterId, Command, ReservationRequest } from "@resource-broker/domain";
import type { Refused, ReservationStatus } from "../forge/reservation-status.ts";

/** What a requester wants a reservation to last, in its own words and read. */
export interface RenewalWish {
  /** The annotation as it comes back in `status.renewed`. */
  readonly text: string;
  readonly durationMs?: number;
  readonly problem?: string;
}

/** What a party of a reservation can say. */
export type PartyCommand = Extract<Command, { readonly id: string }>;

/**
 * The next thing to do about an object. One at a time: after each, object and ledger are looked at again, so that a
 * broker that dies between two of them goes on where it was.
 */
export type Step =
  | { readonly kind: "rest"; readonly requeueAfterMs?: number }
  /** Puts the finalizer on, before anything is booked; then decides what is asked for, if that is still to be done. */
  | { readonly kind: "hold"; readonly request?: ReservationRequest }
  | { readonly kind: "let-go" }
  | { readonly kind: "decide"; readonly request: ReservationRequest }
  | { readonly kind: "refuse"; readonly refused: Refused }
  /** A word of one of the parties. */
  | { readonly kind: "submit"; readonly command: PartyCommand }
  | { readonly kind: "renew"; readonly wish: RenewalWish }
  /** Somebody deleted the object: a release, unless its whole place is being deleted. */
  | { readonly kind: "release-deleted" }
  | { readonly kind: "name-parties"; readonly target: ClusterId }
  | { readonly kind: "tell"; readonly status: ReservationStatus }
  | { readonly kind: "quote"; readonly request: ReservationRequest }
  | { readonly kind: "close-key" }
  | { readonly kind: "offer"; readonly by: ClusterId; readonly offer: AdoptionOffer }
  /** It was answered long enough ago. */
  | { readonly kind: "delete" };

export type Work = Exclude<Step, { readonly kind: "rest" }>;
type WorkByKind = { readonly [K in Work["kind"]]: Extract<Work, { readonly kind: K }> };

/** How steps are done. Each says whether to look again at once: false when there is nothing more to be seen. */
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
