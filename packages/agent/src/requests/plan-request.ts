import {
  type Fault,
  type FaultCode,
  parseTime,
  type ReservationRequestDTO,
  type ResourceRequest,
} from "@resource-broker/contract";
import { isFinal } from "@resource-broker/domain";
import type { BookEntry } from "../reservations/reservation-book.ts";
import { attemptKey, attemptOf } from "../reservations/attempt-key.ts";
import {
  borrowedStatus,
  type Delivery,
  endedStatus,
  type NotReserved,
  notReservedStatus,
  type RequestStatus,
} from "./request-status.ts";
import { wishOf } from "./reservation-wish.ts";

/** A queued request asks again at least this often; the broker's news of freed capacity makes it earlier. */
export const QUEUE_RETRY_MS = 30_000;

export interface RequestState {
  readonly request: ResourceRequest;
  /** The reservation that its newest attempt led to, if any. */
  readonly borrowing: BookEntry | undefined;
  readonly delivery: Delivery | undefined;
  /** Wall clock of this machine: only for times that are shown, and for the pause between attempts. */
  readonly now: number;
  /** Capacity was freed since the last attempt. */
  readonly isNudged: boolean;
}

/** What to do next for one ResourceRequest. */
export interface RequestPlan {
  /** Absent: it says the right thing already, or will after the answer. */
  readonly status?: RequestStatus;
  readonly ask?: { readonly request: ReservationRequestDTO; readonly key: string };
  /** The reservation its status names, and nobody here remembers. */
  readonly lookUp?: string;
  readonly requeueAfterMs?: number;
}

export function planRequest(state: RequestState): RequestPlan {
  const { request, borrowing } = state;
  const { status = {}, metadata } = request;
  if (metadata.deletionTimestamp !== undefined || metadata.uid === undefined) return {};
  if (borrowing !== undefined && isNewest(status, borrowing)) return planBorrowed(state, borrowing);
  if (status.phase !== undefined && isFinal(status.phase)) return {};
  const named = isHolding(status) ? status.reservationName : undefined;
  return named === undefined ? planAsk(state) : { lookUp: named };
}

/** Its status names a reservation that the broker does not know: the same attempt is made again. */
export function planForgotten(state: RequestState): RequestPlan {
  return ask(state, Math.max(state.request.status?.attempts ?? 1, 1));
}

/** An ended reservation says nothing more once its end is in the status and another attempt may be under way. */
function isNewest(
  { reservationName, attempts = 0 }: RequestStatus,
  { reservation, endedAt }: BookEntry,
): boolean {
  if (endedAt === undefined || reservationName === reservation.id) return true;
  return (attemptOf(reservation.key)?.attempt ?? 0) > attempts;
}

function isHolding({ phase }: RequestStatus): boolean {
  return phase === "Reserved" || phase === "Active";
}

function planBorrowed(state: RequestState, borrowing: BookEntry): RequestPlan {
  const { request, delivery } = state;
  if (borrowing.endedAt === undefined) return { status: borrowedStatus(state, borrowing, delivery) };
  const { status = {} } = request;
  const isOver = status.phase !== undefined && isFinal(status.phase);
  if (isOver) return {};
  const { reservation } = borrowing;
  if (reservation.reason !== "ProviderRefused") return { status: endedStatus(state, borrowing) };
  const message = `${reservation.targetClusterID} could not hold it after all (${reservation.status.message})`;
  return {
    status: notReservedStatus(state, {
      phase: "Pending",
      reason: "ProviderRefused",
      message: `${message}; asking again`,
      attempts: attemptOf(reservation.key)?.attempt ?? (status.attempts ?? 0) + 1,
    }),
    requeueAfterMs: 0,
  };
}

function planAsk(state: RequestState): RequestPlan {
  const { request, now, isNudged } = state;
  const { status = {} } = request;
  const waitMs = isNudged ? 0 : remaining(status.nextAttemptTime, now);
  return waitMs > 0 ? { requeueAfterMs: waitMs } : ask(state, (status.attempts ?? 0) + 1);
}

function ask(state: RequestState, attempt: number): RequestPlan {
  const { request } = state;
  const wish = wishOf(request);
  if (wish.ok)
    return { ask: { request: wish.request, key: attemptKey(request.metadata.uid ?? "", attempt) } };
  const message = `${wish.problem}: correct it in a new request`;
  return {
    status: notReservedStatus(state, {
      ...failed("Invalid", message),
      attempts: request.status?.attempts ?? 0,
    }),
  };
}

/** A clock that was set back must not turn a pause of seconds into one of hours. */
function remaining(nextAttemptTime: string | undefined, now: number): number {
  const at = nextAttemptTime === undefined ? undefined : parseTime(nextAttemptTime);
  if (at === undefined || at - now > QUEUE_RETRY_MS) return 0;
  return Math.max(0, at - now);
}

/** What a refusal means: ended for good, worth another attempt later, or no answer at all. */
const LASTING: Readonly<Partial<Record<FaultCode, "NoCapacity" | "Invalid">>> = {
  "no-capacity": "NoCapacity",
  "quota-exceeded": "NoCapacity",
  invalid: "Invalid",
  malformed: "Invalid",
  "key-mismatch": "Invalid",
  "not-yet": "Invalid",
  "ttl-too-long": "Invalid",
  "too-large": "Invalid",
  unsupported: "Invalid",
};

export interface AnsweredPlan {
  readonly status: RequestStatus;
  /** Absent: the queue's own back-off decides, or nothing more is to be done. */
  readonly requeueAfterMs?: number;
  /** True: it is not known whether the attempt booked, or nothing was decided; the same key is used again. */
  readonly isOpen: boolean;
}

/** The broker refused, or did not answer. */
export function planRefusal(state: Omit<RequestState, "borrowing" | "delivery">, fault: Fault): AnsweredPlan {
  const { request, now } = state;
  const asked = (request.status?.attempts ?? 0) + 1;
  if (fault.code === "key-released") {
    const story: NotReserved = {
      phase: "Pending",
      reason: "AskingAgain",
      message: fault.message,
      attempts: asked,
    };
    return { status: notReservedStatus(state, story), requeueAfterMs: 0, isOpen: false };
  }
  const endReason = LASTING[fault.code];
  if (endReason === undefined) return unanswered(state, fault);
  if (endReason === "NoCapacity" && request.spec.queue === true) {
    const story: NotReserved = {
      phase: "Pending",
      reason: "Queued",
      message: `${fault.message}; asking again as soon as capacity is freed (attempt ${asked})`,
      attempts: asked,
      nextAttemptAt: now + QUEUE_RETRY_MS,
      refusal: fault,
    };
    return { status: notReservedStatus(state, story), requeueAfterMs: QUEUE_RETRY_MS, isOpen: false };
  }
  const story = { ...failed(endReason, fault.message), attempts: asked, refusal: fault };
  return { status: notReservedStatus(state, story), isOpen: false };
}

function unanswered(state: Omit<RequestState, "borrowing" | "delivery">, fault: Fault): AnsweredPlan {
  const { request } = state;
  const story: NotReserved = {
    phase: "Pending",
    reason: UNANSWERED[fault.code] ?? "BrokerUnavailable",
    message: `${fault.message}; asking again`,
    attempts: request.status?.attempts ?? 0,
  };
  const { retryAfterMs } = fault.details;
  return {
    status: notReservedStatus(state, story),
    ...(retryAfterMs === undefined ? {} : { requeueAfterMs: retryAfterMs }),
    isOpen: true,
  };
}

const UNANSWERED: Readonly<Partial<Record<FaultCode, string>>> = {
  unreachable: "BrokerUnreachable",
  forbidden: "BrokerRefusesAgent",
  "no-certificate": "BrokerRefusesAgent",
  "rate-limited": "BrokerBusy",
  overloaded: "BrokerBusy",
};

function failed(endReason: "NoCapacity" | "Invalid", message: string): Omit<NotReserved, "attempts"> {
  return { phase: "Failed", reason: endReason, endReason, message };
}
