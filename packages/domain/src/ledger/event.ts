import type { Advertisement } from "../advertisement/advertisement.ts";
import type { ClusterId, Instant, ReservationId } from "../reservation/ids.ts";
import type { EndReason } from "../reservation/lifecycle.ts";
import type { NoticeCause, Reservation } from "../reservation/reservation.ts";
import type { Cordon, Kept } from "../scheduling/candidate-table.ts";
import type { Decision } from "../scheduling/decision.ts";
import type { AdoptionOffer, AdoptionWindow } from "./adoption-window.ts";
import type { ClosedDay, UtcDay } from "../queue/charges.ts";
import type { NominatedRoom, PreemptionLook, QueueTurn, Waiting } from "../queue/waiting.ts";
import type { Member } from "./member.ts";

/** A change of the ledger. Events carry everything `apply` needs, so that all copies of the ledger are equal. */
export type LedgerEvent =
  | {
      readonly kind: "advertised";
      readonly at: Instant;
      readonly advertisement: Advertisement;
      /** The cluster's last advertisement was stale: nothing was lent on it. */
      readonly wasStale?: true;
    }
  | {
      readonly kind: "granted";
      readonly at: Instant;
      readonly reservation: Reservation;
      readonly decision: Decision;
    }
  | { readonly kind: "refused"; readonly at: Instant; readonly decision: Decision }
  /** A request waits for capacity. */
  | { readonly kind: "queued"; readonly at: Instant; readonly waiting: Waiting }
  /** A request leaves the queue without a grant. */
  | {
      readonly kind: "unqueued";
      readonly at: Instant;
      readonly id: ReservationId;
      readonly reason: EndReason;
      readonly message?: string;
    }
  /** What the provider has and gets back is kept for this request. */
  | {
      readonly kind: "nominated";
      readonly at: Instant;
      readonly id: ReservationId;
      readonly provider: ClusterId;
      /** Reservations that get notice, so that it starts there; each has its own event. */
      readonly victims?: readonly ReservationId[];
      /** Why these. */
      readonly decision?: Decision;
    }
  /** A reservation gets notice: it ends at `until`. */
  | ({
      readonly kind: "preempting";
      readonly at: Instant;
      readonly id: ReservationId;
      readonly until: Instant;
    } & NoticeCause)
  /** The notice is withdrawn. */
  | { readonly kind: "reprieved"; readonly at: Instant; readonly id: ReservationId }
  /** A waiting request has taken over the place in the queue of a reservation that was preempted. */
  | {
      readonly kind: "resumed";
      readonly at: Instant;
      readonly id: ReservationId;
      readonly by: ReservationId;
    }
  | { readonly kind: "nomination-lapsed"; readonly at: Instant; readonly id: ReservationId }
  /** No waiting request can be granted now. The plans replace those of before. */
  | {
      readonly kind: "settled";
      readonly at: Instant;
      readonly plans: readonly Kept[];
      /** Requests for which victims were sought in vain, and when last. */
      readonly looked?: readonly PreemptionLook[];
      /** Requests that have been the first of their tenant, and since when. */
      readonly turns?: readonly QueueTurn[];
      /** For nominated requests: when they have room, where the known ends are enough. */
      readonly rooms?: readonly NominatedRoom[];
    }
  /** A UTC day is over: what was charged on it is written down. */
  | {
      readonly kind: "day-closed";
      readonly at: Instant;
      readonly closedDay: ClosedDay;
      /** Days that are too long ago to be remembered. */
      readonly forgets: readonly UtcDay[];
    }
  | { readonly kind: "activated"; readonly at: Instant; readonly id: ReservationId }
  | {
      readonly kind: "renewed";
      readonly at: Instant;
      readonly id: ReservationId;
      readonly expiresAt: Instant;
    }
  | { readonly kind: "acknowledged"; readonly at: Instant; readonly id: ReservationId }
  | {
      readonly kind: "ended";
      readonly at: Instant;
      readonly id: ReservationId;
      readonly reason: EndReason;
      readonly message?: string;
    }
  /** Requests with this key are rejected until `until`. */
  | { readonly kind: "key-closed"; readonly at: Instant; readonly closedKey: ClosedKey }
  | {
      readonly kind: "key-reopened";
      readonly at: Instant;
      readonly requester: ClusterId;
      readonly key: string;
    }
  | {
      readonly kind: "cordoned";
      readonly at: Instant;
      readonly clusterId: ClusterId;
      readonly cordon: Cordon;
    }
  | {
      readonly kind: "uncordoned";
      readonly at: Instant;
      readonly clusterId: ClusterId;
      readonly by: ClusterId;
    }
  | {
      readonly kind: "adoption-offered";
      readonly at: Instant;
      readonly by: ClusterId;
      readonly offer: AdoptionOffer;
    }
  | {
      readonly kind: "adoption-withdrawn";
      readonly at: Instant;
      readonly by: ClusterId;
      readonly id: ReservationId;
    }
  | { readonly kind: "adopted"; readonly at: Instant; readonly reservation: Reservation }
  | { readonly kind: "adoption-window-set"; readonly at: Instant; readonly window: AdoptionWindow }
  /** An ended reservation is kept longer because its pods still run. */
  | { readonly kind: "retained"; readonly at: Instant; readonly id: ReservationId; readonly until: Instant }
  | { readonly kind: "forgotten"; readonly at: Instant; readonly id: ReservationId }
  | MemberEvent;

/** Each carries the whole member as it is afterwards. */
export type MemberEvent =
  | {
      readonly kind: "member-invited" | "member-enrolled" | "member-accepted" | "member-bound";
      readonly at: Instant;
      readonly member: Member;
    }
  | {
      readonly kind: "member-evicted";
      readonly at: Instant;
      readonly member: Member;
      readonly by: ClusterId;
      readonly why?: string;
    };

/** The member that an event changes, if any. */
export function memberIn(event: LedgerEvent): Member | undefined {
  return "member" in event ? event.member : undefined;
}

export interface ClosedKey {
  readonly requester: ClusterId;
  readonly key: string;
  readonly until: Instant;
}

/** Soft events are rebuilt from the agents' next posts. For advertisements that must be durable see `mustBeDurable`. */
export function isSoft(event: LedgerEvent): boolean {
  return (
    event.kind === "advertised" ||
    event.kind === "adoption-offered" ||
    event.kind === "adoption-withdrawn" ||
    event.kind === "settled"
  );
}
