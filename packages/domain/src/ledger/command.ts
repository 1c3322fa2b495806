import type { Advertisement } from "../advertisement/advertisement.ts";
import type { ClusterId, DecisionId, Instant, ReservationId } from "../reservation/ids.ts";
import type { Reservation, ReservationRequest } from "../reservation/reservation.ts";
import type { Decision } from "../scheduling/decision.ts";
import type { Policy } from "../scheduling/policy.ts";
import type { AdoptionOffer, AdoptionWindow } from "./adoption-window.ts";
import type { LedgerEvent } from "./event.ts";
import type { Waiting } from "../queue/waiting.ts";
import type { Member } from "./member.ts";

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
  /** Present: wait for capacity, if there is none now. Needs a key. Without `forMs`: as long as the policy allows. */
  readonly wait?: { readonly forMs?: number };
  /** A reservation of the requester that was preempted: if this request waits, it does so since that one first asked. */
  readonly resumes?: ReservationId;
  /** Namespace of the request in the requester's cluster. */
  readonly namespace?: string;
  /** Protocol of the call. */
  readonly protocol?: number;
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

/** Looks whether the first waiting request that can be served fits now, and grants it. */
export interface Admit {
  readonly kind: "admit";
  readonly decisionId: DecisionId;
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

/** Cordons a cluster, and gives notice to every reservation that it provides and whose requester can be told. */
export interface Drain {
  readonly kind: "drain";
  readonly by: Actor;
  readonly clusterId: ClusterId;
  readonly why?: string;
  /** Time between the notice and the end. Absent: the policy's grace for preemption. */
  readonly graceMs?: number;
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

/** An admin invites a cluster to join. */
export interface Invite {
  readonly kind: "invite";
  readonly by: Actor;
  readonly clusterId: ClusterId;
  readonly tokenId: string;
  /** SHA-256 of the token's secret, hexadecimal. */
  readonly secretHash: string;
  readonly lifetimeMs: number;
  /** True: an admin must accept the key that uses the token. */
  readonly needsConfirmation: boolean;
  /** True: the agent that has this ID is evicted first. */
  readonly isReplacing: boolean;
}

/** A new agent uses its invitation. The caller has checked that it holds the key. */
export interface Enroll {
  readonly kind: "enroll";
  readonly tokenId: string;
  readonly secretHash: string;
  readonly clusterId: ClusterId;
  /** Its identity key (base64url). */
  readonly key: string;
}

/** An admin accepts the identity key that used an invitation. */
export interface Accept {
  readonly kind: "accept";
  readonly by: Actor;
  readonly clusterId: ClusterId;
  readonly key: string;
}

/** An admin ends the membership of a cluster. */
export interface Evict {
  readonly kind: "evict";
  readonly by: Actor;
  readonly clusterId: ClusterId;
  readonly why?: string;
}

/** The first call of a cluster that shows an identity key. The caller has checked certificate and key. */
export interface Bind {
  readonly kind: "bind";
  readonly clusterId: ClusterId;
  readonly key: string;
}

export type MemberCommand = Invite | Enroll | Accept | Evict | Bind;

export type Command =
  | Advertise
  | Reserve
  | Activate
  | Renew
  | Release
  | ReleaseByKey
  | Acknowledge
  | Refuse
  | Admit
  | ExpireDue
  | SetCordon
  | Drain
  | Adopt
  | SetAdoptionWindow
  | Import
  | MemberCommand;

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
  "priority-too-high",
  "no-certificate",
  "wrong-instance",
  "liqo-id-taken",
  "queue-full",
  "overloaded",
] as const;
export type RejectionCode = (typeof REJECTION_CODES)[number];

export type Reply =
  | { readonly kind: "advertised" }
  | { readonly kind: "granted"; readonly reservation: Reservation; readonly decision: Decision }
  | { readonly kind: "refused"; readonly decision: Decision }
  /** The reservation after the command; `isReplay` when a retry was recognised. */
  | { readonly kind: "current"; readonly reservation: Reservation; readonly isReplay: boolean }
  /** The request waits, or has left the queue without a grant; `isReplay` when a retry was recognised. */
  | { readonly kind: "waiting"; readonly waiting: Waiting; readonly isReplay: boolean }
  /** Not `hasMore`: no other waiting request can be granted. */
  | { readonly kind: "admitted"; readonly granted?: Reservation; readonly hasMore: boolean }
  | { readonly kind: "key-closed" }
  | { readonly kind: "swept"; readonly hasMore: boolean }
  | { readonly kind: "cordon-set"; readonly clusterId: ClusterId; readonly isCordoned: boolean }
  /** Of its reservations, those under notice, and those whose requester knows of no notices: they stay. */
  | {
      readonly kind: "draining";
      readonly clusterId: ClusterId;
      readonly noticed: readonly ReservationId[];
      readonly untold: readonly ReservationId[];
    }
  | { readonly kind: "imported"; readonly count: number }
  /** Waits for the other party's report, for an admin when the reports differ, or for the provider's advertisement. */
  | { readonly kind: "adoption-offered"; readonly waitsFor: "other-party" | "admin" | "advertisement" }
  /** Absent window: nothing changed. */
  | { readonly kind: "adoption-window-set"; readonly window?: AdoptionWindow }
  /** The member after an invitation, an acceptance, an eviction or a binding. */
  | { readonly kind: "member-set"; readonly member: Member }
  /** Not confirmed: an admin must accept its identity key. */
  | { readonly kind: "enrolled"; readonly clusterId: ClusterId; readonly isConfirmed: boolean }
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
