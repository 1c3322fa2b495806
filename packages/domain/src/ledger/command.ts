import type { Advertisement } from "../advertisement/advertisement.ts";
import type { ClusterId, DecisionId, Instant, ReservationId } from "../reservation/ids.ts";
import type { Reservation, ReservationRequest } from "../reservation/reservation.ts";
import type { Decision } from "../scheduling/decision.ts";
import type { Policy } from "../scheduling/policy.ts";
import type { AdoptionOffer, AdoptionWindow } from "./adoption-window.ts";
import type { LedgerEvent } from "./event.ts";

/** The caller: a cluster identified by its certificate, possibly with admin rights. */
export interface Actor {
  readonly clusterId: ClusterId;
  readonly isAdmin: boolean;
}

export interface Advertise {
  readonly kind: "advertise";
  readonly advertisement: Advertisement;
}

export interface Reserve {
  readonly kind: "reserve";
  readonly requester: ClusterId;
  /** Who asks on its behalf; absent: the requester itself. */
  readonly by?: Actor;
  readonly request: ReservationRequest;
  readonly key?: string;
  /** Derived by the caller from requester and key, or from random bytes: the domain has no source of randomness. */
  readonly reservationId: ReservationId;
  readonly decisionId: DecisionId;
}

/** Calls about one reservation by one of its parties. */
export interface Activate {
  readonly kind: "activate";
  readonly by: Actor;
  readonly id: ReservationId;
}

export interface Renew {
  readonly kind: "renew";
  readonly by: Actor;
  readonly id: ReservationId;
  readonly durationMs: number;
}

export interface Release {
  readonly kind: "release";
  readonly by: Actor;
  readonly id: ReservationId;
}

export interface ReleaseByKey {
  readonly kind: "release-by-key";
  readonly requester: ClusterId;
  /** Who asks on its behalf; absent: the requester itself. */
  readonly by?: Actor;
  readonly key: string;
}

export interface Acknowledge {
  readonly kind: "acknowledge";
  readonly by: Actor;
  readonly id: ReservationId;
}

/** The provider cannot hold what was granted. */
export interface Refuse {
  readonly kind: "refuse";
  readonly by: Actor;
  readonly id: ReservationId;
  readonly why: string;
}

/** Time passed: end what is due. */
export interface ExpireDue {
  readonly kind: "expire-due";
}

export interface SetCordon {
  readonly kind: "cordon" | "uncordon";
  readonly by: Actor;
  readonly clusterId: ClusterId;
  readonly why?: string;
}

/** An agent reports a reservation that the ledger does not know. */
export interface Adopt {
  readonly kind: "adopt";
  readonly by: Actor;
  readonly offer: AdoptionOffer;
}

/** An admin opens adoption of earlier reservations for some time, or closes it. */
export type SetAdoptionWindow =
  | { readonly kind: "open-adoption"; readonly by: Actor; readonly durationMs: number }
  | { readonly kind: "close-adoption"; readonly by: Actor };

/** Imports the reservations of a broker that has no ledger into a new ledger. Only the broker itself sends it. */
export interface Import {
  readonly kind: "import";
  readonly reservations: readonly Reservation[];
}

export type Command =
  | Advertise
  | Reserve
  | Activate
  | Renew
  | Release
  | ReleaseByKey
  | Acknowledge
  | Refuse
  | ExpireDue
  | SetCordon
  | Adopt
  | SetAdoptionWindow
  | Import;

export const REJECTION_CODES = [
  "invalid",
  "forbidden",
  "not-found",
  "already-ended",
  "superseded",
  "key-mismatch",
  "key-released",
  "ledger-conflict",
  "not-yet",
  "quota-exceeded",
  "ttl-too-long",
] as const;
export type RejectionCode = (typeof REJECTION_CODES)[number];

export type Reply =
  | { readonly kind: "advertised" }
  | { readonly kind: "granted"; readonly reservation: Reservation; readonly decision: Decision }
  | { readonly kind: "refused"; readonly decision: Decision }
  /** The reservation after the command; `isReplay` when a retry was recognised. */
  | { readonly kind: "current"; readonly reservation: Reservation; readonly isReplay: boolean }
  | { readonly kind: "key-closed" }
  | { readonly kind: "swept"; readonly hasMore: boolean }
  | { readonly kind: "cordon-set"; readonly clusterId: ClusterId; readonly isCordoned: boolean }
  | { readonly kind: "imported"; readonly count: number }
  /** Waits for the other party's report, for an admin when the reports differ, or for the provider's advertisement. */
  | { readonly kind: "adoption-offered"; readonly waitsFor: "other-party" | "admin" | "advertisement" }
  /** Absent window: nothing changed. */
  | { readonly kind: "adoption-window-set"; readonly window?: AdoptionWindow }
  | { readonly kind: "rejected"; readonly code: RejectionCode; readonly message: string };

/** Time and policy for one command. `now` is never before the ledger's latest durable event. */
export interface DecisionContext {
  readonly now: Instant;
  readonly policy: Policy;
}

/** The result of `decide`. Nothing has changed yet: the caller stores the events and then applies them. */
export interface Outcome {
  readonly events: readonly LedgerEvent[];
  readonly reply: Reply;
}

export function rejected(code: RejectionCode, message: string): Outcome {
  return { events: [], reply: { kind: "rejected", code, message } };
}
