import type { UiAmounts, UiMoney, UiPage, UiTime } from "./common.ts";

export type UiPhase = "Pending" | "Reserved" | "Active" | "Released" | "Failed";

export interface UiReservation {
  readonly id: string;
  readonly requester: string;
  readonly provider: string;
  readonly amounts: UiAmounts;
  readonly phase: UiPhase;
  /** Why it ended. */
  readonly reason: string | null;
  readonly createdAt: UiTime;
  readonly expiresAt: UiTime | null;
  readonly endedAt: UiTime | null;
  readonly costPerHour: UiMoney | null;
  readonly priority: number;
}

export const RESERVATION_SORTS = [
  "created",
  "expires",
  "id",
  "requester",
  "provider",
  "phase",
  "cpu",
  "memory",
  "gpu",
  "cost",
] as const;
export type ReservationSort = (typeof RESERVATION_SORTS)[number];

/**
 * `GET /ui/reservations?sort=&order=&q=&phase=&requester=&provider=&cluster=&offset=&limit=`. `phase` may be repeated, or be
 * `live` for Pending, Reserved and Active; `cluster` matches either party. Newest first unless said otherwise.
 */
export type UiReservations = UiPage<UiReservation>;

const TIMELINE_STEPS = ["requested", "reserved", "told", "enforced", "active", "end"] as const;
export type TimelineStep = (typeof TIMELINE_STEPS)[number];

/** `GET /ui/reservations/{id}`. */
export interface UiReservationDetail extends UiReservation {
  readonly message: string;
  /** In this order; `at` null: not reached (yet). `text` says what happened, or what is waited for. */
  readonly timeline: readonly {
    readonly step: TimelineStep;
    readonly at: UiTime | null;
    readonly text: string;
  }[];
  readonly costSoFar: UiMoney | null;
  readonly parties: {
    readonly requester: UiParty;
    readonly provider: UiParty;
  };
  /** What the guest's pods request now, as the provider said last; null: it has not said. */
  readonly used: UiAmounts | null;
  readonly decisionID: string | null;
  /** The Reservation object as `kubectl get -o yaml` would show it. */
  readonly yaml: string;
  /** Exact command lines to look at and to end it. */
  readonly commands: readonly { readonly title: string; readonly line: string }[];
}

export interface UiParty {
  readonly id: string;
  /** Null: the broker has never heard it. */
  readonly heardAt: UiTime | null;
  readonly isStale: boolean;
  /** One sentence: "holds the capacity", "has not confirmed yet", "uses it". */
  readonly state: string;
}
