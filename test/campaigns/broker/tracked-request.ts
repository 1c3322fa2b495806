import type { Size } from "@resource-broker/testkit";

/** A request of one client and all replies to it. The ledger is compared with it. */
export interface TrackedRequest {
  readonly requester: string;
  readonly key: string;
  readonly size: Size;
  /** Once a reply has said so. */
  acknowledged: { readonly id: string; readonly provider: string; readonly reservedAt: string } | undefined;
  /** Replies that said the reservation is new: never more than one. */
  created: number;
  /** Attempts that nobody answered: they may have booked or not. */
  unanswered: number;
  release: "not asked" | "asked" | "acknowledged";
}

export function newTrackedRequest(requester: string, key: string, size: Size): TrackedRequest {
  return {
    requester,
    key,
    size,
    acknowledged: undefined,
    created: 0,
    unanswered: 0,
    release: "not asked",
  };
}
