import type { Advertisement } from "../advertisement/advertisement.ts";
import type { ClusterId, Instant, ReservationId } from "../reservation/ids.ts";
import type { EndReason } from "../reservation/lifecycle.ts";
import type { Reservation } from "../reservation/reservation.ts";
import type { Cordon } from "../scheduling/candidate-table.ts";
import type { Decision } from "../scheduling/decision.ts";
import type { AdoptionOffer, AdoptionWindow } from "./adoption-window.ts";

/** A change of the ledger. Events carry everything `apply` needs, so that all copies of the ledger are equal. */
export type LedgerEvent =
  | { readonly kind: "advertised"; readonly at: Instant; readonly advertisement: Advertisement }
  | {
      readonly kind: "granted";
      readonly at: Instant;
      readonly reservation: Reservation;
      readonly decision: Decision;
    }
  | { readonly kind: "refused"; readonly at: Instant; readonly decision: Decision }
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
  | { readonly kind: "forgotten"; readonly at: Instant; readonly id: ReservationId };

export interface ClosedKey {
  readonly requester: ClusterId;
  readonly key: string;
  readonly until: Instant;
}

/** Soft events are rebuilt from the agents' next posts. For advertisements that must be durable see `mustBeDurable`. */
export function isSoft(event: LedgerEvent): boolean {
  return (
    event.kind === "advertised" || event.kind === "adoption-offered" || event.kind === "adoption-withdrawn"
  );
}
