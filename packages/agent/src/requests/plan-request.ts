import { parseTime, type ReservationRequestDTO, type ResourceRequest } from "@resource-broker/contract";
import { isFinal } from "@resource-broker/domain";
import type { ReleaseState } from "../data-plane/data-plane.ts";
import { saysTheSame } from "../forge/conditions.ts";
import type { BookEntry } from "../reservations/reservation-book.ts";
import { attemptKey, attemptOf } from "../reservations/attempt-key.ts";
import { isAsking, nextAttempt, planInvalid, planLostAnswer, QUEUE_RETRY_MS } from "./plan-answer.ts";
import {
  borrowedStatus,
  cleaningStatus,
  type Delivery,
  endedStatus,
  notReservedStatus,
  type RequestStatus,
} from "./request-status.ts";
import { wishOf } from "./reservation-wish.ts";

export interface RequestState {
  readonly request: ResourceRequest;
  /** The reservation of its newest attempt, if any. */
  readonly borrowing: BookEntry | undefined;
  readonly delivery: Delivery | undefined;
  /** State of the teardown of an ended reservation; undefined: it has not begun. */
  readonly release: ReleaseState | undefined;
  /** Local wall clock: only for times in the status, and for the wait between attempts. */
  readonly now: number;
  /** Capacity was freed since the last attempt. */
  readonly isNudged: boolean;
}

/** What to do next for one ResourceRequest. */
export interface RequestPlan {
  /** Absent: the status is up to date, or is written after the answer. */
  readonly status?: RequestStatus;
  readonly ask?: { readonly request: ReservationRequestDTO; readonly key: string };
  /** The reservation in its status, which the cache does not have. */
  readonly lookUp?: string;
  readonly requeueAfterMs?: number;
}

export function planRequest(state: RequestState): RequestPlan {
  const { request, borrowing } = state;
  const { status = {}, metadata } = request;
  if (metadata.deletionTimestamp !== undefined || metadata.uid === undefined) return {};
  if (borrowing !== undefined && isNewest(status, borrowing)) return planBorrowed(state, borrowing);
  if (isOver(status)) return {};
  if (isAsking(status)) return planLostAnswer(state);
  const named = isHolding(status) ? status.reservationName : undefined;
  return named === undefined ? planAsk(state) : { lookUp: named };
}

/** The broker does not know the reservation in the status: the same attempt is made again. */
export function planForgotten(state: RequestState): RequestPlan {
  return ask(state, Math.max(state.request.status?.attempts ?? 1, 1));
}

/** An ended reservation is ignored once its end is in the status, because another attempt may be running. */
function isNewest(
  { reservationName, attempts = 0 }: RequestStatus,
  { reservation, endedAt }: BookEntry,
): boolean {
  if (endedAt === undefined || reservationName === reservation.id) return true;
  return (attemptOf(reservation.key)?.attempt ?? 0) > attempts;
}

function isOver({ phase }: RequestStatus): boolean {
  return phase !== undefined && isFinal(phase);
}

function isHolding({ phase }: RequestStatus): boolean {
  return phase === "Reserved" || phase === "Active";
}

function planBorrowed(state: RequestState, borrowing: BookEntry): RequestPlan {
  const { request, delivery } = state;
  if (borrowing.endedAt === undefined) return { status: borrowedStatus(state, borrowing, delivery) };
  const { status = {} } = request;
  const { reservation } = borrowing;
  if (isOver(status)) return status.reservationName === reservation.id ? planCleaning(state, status) : {};
  if (reservation.reason !== "ProviderRefused") return { status: endedStatus(state, borrowing) };
  const message = `${reservation.targetClusterID} could not hold it (${reservation.status.message})`;
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

/** The reservation has ended; only its cleanup progress can still change. */
function planCleaning(state: RequestState, said: RequestStatus): RequestPlan {
  const status = cleaningStatus(state, said);
  return saysTheSame(said, status) ? {} : { status };
}

function planAsk(state: RequestState): RequestPlan {
  const { request, now, isNudged } = state;
  const { status = {} } = request;
  const waitMs = isNudged ? 0 : remaining(status.nextAttemptTime, now);
  return waitMs > 0 ? { requeueAfterMs: waitMs } : ask(state, nextAttempt(state));
}

function ask(state: RequestState, attempt: number): RequestPlan {
  const { request } = state;
  const wish = wishOf(request);
  if (wish.ok)
    return { ask: { request: wish.request, key: attemptKey(request.metadata.uid ?? "", attempt) } };
  return planInvalid(state, `${wish.problem}: correct it in a new request`);
}

/** A clock that was set back must not turn seconds into hours. */
function remaining(nextAttemptTime: string | undefined, now: number): number {
  const at = nextAttemptTime === undefined ? undefined : parseTime(nextAttemptTime);
  if (at === undefined || at - now > QUEUE_RETRY_MS) return 0;
  return Math.max(0, at - now);
}
