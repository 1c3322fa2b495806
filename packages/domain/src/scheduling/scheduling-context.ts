import type { ClusterId, Instant, ReservationId } from "../reservation/ids.ts";
import type { Budget } from "../queue/budget.ts";
import type { ReservationRequest } from "../reservation/reservation.ts";
import type { Policy } from "./policy.ts";

/** Input of the filters and scorers for one request. */
export interface SchedulingContext {
  readonly requester: ClusterId;
  readonly request: ReservationRequest;
  readonly now: Instant;
  readonly policy: Policy;
  /** Of a waiting request: whether another one is before it in the queue. */
  readonly isBehind?: (id: ReservationId) => boolean;
  /** Of a tenant with a budget: what is left of it. */
  readonly budget?: Budget | undefined;
}
