import type { Size } from "@resource-broker/testkit";

/** A request of one client and all replies to it. The ledger is compared with it. */
export interface TrackedRequest {
  readonly requester: string;
  readonly key: string;
  readonly size: Size;
  /** How long it waits if there is no room. Absent: it is refused then. */
  readonly waitFor?: string;
  /** True: it is of the spot tier, and may have to give way. */
  readonly isSpot: boolean;
  /** Once a reply has said that it waits. */
  queued: { readonly id: string } | undefined;
  /** Once a reply has said so. */
  acknowledged: { readonly id: string; readonly provider: string; readonly reservedAt: string } | undefined;
  /** Replies that said the reservation, or the place in the queue, is new: never more than one. */
  created: number;
  /** Attempts that nobody answered: they may have booked or not. */
  unanswered: number;
  release: "not asked" | "asked" | "acknowledged";
  /** The broker has said that it gave way to another. */
  isPreempted: boolean;
  /** A reply has said that it left the queue without a reservation: it never gets one. */
  hasLeft: boolean;
}

export function newTrackedRequest(
  requester: string,
  key: string,
  { waitFor, isSpot = false, ...size }: Size & { readonly waitFor?: string; readonly isSpot?: boolean },
): TrackedRequest {
  return {
    requester,
    key,
    size,
    ...(waitFor === undefined ? {} : { waitFor }),
    isSpot,
    queued: undefined,
    acknowledged: undefined,
    created: 0,
    unanswered: 0,
    release: "not asked",
    isPreempted: false,
    hasLeft: false,
  };
}

/** As far as its client knows. */
export function isWaiting({ queued, acknowledged, hasLeft }: TrackedRequest): boolean {
  return queued !== undefined && acknowledged === undefined && !hasLeft;
}

export function isReservationHeld({ acknowledged, release }: TrackedRequest): boolean {
  return acknowledged !== undefined && release === "not asked";
}
