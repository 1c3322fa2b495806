import { parseTime } from "@resource-broker/base";
import type { ResourceRequest } from "@resource-broker/contract/crd";
import { isFinal } from "@resource-broker/domain";
import type { ReleaseState } from "../data-plane/data-plane.ts";
import { isSameStatus } from "../manifests/conditions.ts";
import { attemptKey, attemptOf, type Reservation, type WaitingRequest } from "../reservations/reservation.ts";
import type { CachedReservation } from "../reservations/reservation-cache.ts";
import type { ReservationRequestBody } from "../transport/broker-communicator.ts";
import { isAsking, nextAttempt, planInvalid, planLostAnswer, QUEUE_RETRY_MS } from "./plan-answer.ts";
import { waitingStatus, waitsByStatus } from "./plan-waiting.ts";
import { readRequest } from "./read-request.ts";
import {
  cleaningStatus,
  type DeliveryStatus,
  endedStatus,
  type NotReserved,
  notReservedStatus,
  type RequestStatus,
  reservedStatus,
} from "./request-status.ts";

export interface RequestState {
  readonly request: ResourceRequest;
  /** The reservation of its newest attempt, if any. */
  readonly entry: CachedReservation | undefined;
  /** Its newest attempt that waits at the broker, or has left the queue without a reservation. */
  readonly waiting?: WaitingRequest | undefined;
  readonly delivery: DeliveryStatus | undefined;
  /** State of the teardown of an ended reservation; undefined: it has not begun. */
  readonly release: ReleaseState | undefined;
  /** Local wall clock: only for times in the status, and for the wait between attempts. */
  readonly now: number;
  /** Capacity was freed since the last attempt. */
  readonly isRequeued: boolean;
}

/** What to do next for one ResourceRequest. */
export interface RequestPlan {
  /** Absent: the status is up to date, or is written after the answer. */
  readonly status?: RequestStatus;
  readonly ask?: { readonly request: ReservationRequestBody; readonly key: string };
  /** The reservation or the waiting request in its status, which no cache has. */
  readonly lookUp?: string;
  readonly requeueAfterMs?: number;
}

export function planRequest(state: RequestState): RequestPlan {
  const { request, entry } = state;
  const { status = {}, metadata } = request;
  if (metadata.deletionTimestamp !== undefined || metadata.uid === undefined) return {};
  const waiting = newestWaiting(state);
  if (entry !== undefined && waiting === undefined && isNewest(status, entry))
    return planReserved(state, entry);
  if (isOver(status)) return {};
  return waiting === undefined ? planUnknown(state, status) : planWaiting(state, waiting);
}

/** Neither the reservations nor the waiting requests of this cluster have it. */
function planUnknown(state: RequestState, status: RequestStatus): RequestPlan {
  if (isAsking(status)) return planLostAnswer(state);
  const isNamed = isReservedPhase(status) || waitsByStatus(status);
  const named = isNamed ? status.reservationName : undefined;
  return named === undefined ? planAsk(state) : { lookUp: named };
}

/** The waiting request, if no reservation is newer, and the status has not moved on to another attempt. */
function newestWaiting({ request, entry, waiting }: RequestState): WaitingRequest | undefined {
  if (waiting === undefined || isLive(entry)) return undefined;
  const { reservationName, attempts = 0 } = request.status ?? {};
  const attempt = attemptIn(waiting.key);
  const isCurrent = waiting.id === reservationName || attempt > attempts;
  return isCurrent && attempt > attemptIn(entry?.reservation.key) ? waiting : undefined;
}

function isLive(entry: CachedReservation | undefined): boolean {
  return entry !== undefined && entry.endedAt === undefined;
}

/** 0: none of this agent's. */
function attemptIn(key: string | undefined): number {
  return attemptOf(key)?.attempt ?? 0;
}

/** A changed spec is sent with the same key: the broker says whether it is another request than the one that waits. */
function planWaiting(state: RequestState, waiting: WaitingRequest): RequestPlan {
  const { metadata, spec, status = {} } = state.request;
  const isEdited = waitsByStatus(status) && status.observedGeneration !== metadata.generation;
  const shallAskAgain = isEdited || spec.queue !== true;
  if (!shallAskAgain) return { status: waitingStatus(state, waiting) };
  if (!isFinal(waiting.phase)) return ask(state, attemptIn(waiting.key));
  // This agent released it because of the change, and could not write that down.
  const isReleased = waiting.endReason === "ReleasedByRequester";
  return isReleased ? planAsk(state) : { status: waitingStatus(state, waiting) };
}

/** The broker does not know what the status names: the same attempt is made again. */
export function planForgotten(state: RequestState): RequestPlan {
  return ask(state, Math.max(state.request.status?.attempts ?? 1, 1));
}

/** An ended reservation is ignored once its end is in the status, because another attempt may be running. */
function isNewest(
  { reservationName, attempts = 0 }: RequestStatus,
  { reservation, endedAt }: CachedReservation,
): boolean {
  if (endedAt === undefined || reservationName === reservation.id) return true;
  return attemptIn(reservation.key) > attempts;
}

function isOver({ phase }: RequestStatus): boolean {
  return phase !== undefined && isFinal(phase);
}

function isReservedPhase({ phase }: RequestStatus): boolean {
  return phase === "Reserved" || phase === "Active";
}

function planReserved(state: RequestState, entry: CachedReservation): RequestPlan {
  const { request, delivery } = state;
  if (entry.endedAt === undefined) return { status: reservedStatus(state, entry, delivery) };
  const { status = {} } = request;
  const { reservation } = entry;
  if (isOver(status)) return status.reservationName === reservation.id ? planCleaning(state, status) : {};
  const again = askingAgain(state, reservation);
  if (again === undefined) return { status: endedStatus(state, entry) };
  const attempts = attemptOf(reservation.key)?.attempt ?? (status.attempts ?? 0) + 1;
  return {
    status: notReservedStatus(state, { phase: "Pending", ...again, attempts }),
    requeueAfterMs: 0,
  };
}

/** Why the request is sent again, with its next key; undefined: it ends with its reservation. */
function askingAgain(
  { request }: RequestState,
  { id, provider, endReason, message }: Reservation,
): Pick<NotReserved, "reason" | "message" | "resumes"> | undefined {
  if (endReason === "ProviderRefused")
    return { reason: endReason, message: `${provider} could not hold it (${message}); asking again` };
  if (endReason !== "Preempted" || request.spec.queue !== true) return undefined;
  return {
    reason: endReason,
    message: `${id} was preempted (${message}); asking for its place in the queue`,
    resumes: id,
  };
}

/** The reservation has ended; only its cleanup progress can still change. */
function planCleaning(state: RequestState, before: RequestStatus): RequestPlan {
  const status = cleaningStatus(state, before);
  return isSameStatus(before, status) ? {} : { status };
}

function planAsk(state: RequestState): RequestPlan {
  const { request, now, isRequeued } = state;
  const { status = {} } = request;
  const waitMs = isRequeued ? 0 : remaining(status.nextAttemptTime, now);
  return waitMs > 0 ? { requeueAfterMs: waitMs } : ask(state, nextAttempt(state));
}

function ask(state: RequestState, attempt: number): RequestPlan {
  const { request } = state;
  const reading = readRequest(request);
  if (reading.ok)
    return { ask: { request: reading.request, key: attemptKey(request.metadata.uid ?? "", attempt) } };
  return planInvalid(state, `${reading.problem.replace(/\.$/, "")}: correct it in a new request`);
}

/** A clock that was set back must not turn seconds into hours. */
function remaining(nextAttemptTime: string | undefined, now: number): number {
  const at = nextAttemptTime === undefined ? undefined : parseTime(nextAttemptTime);
  if (at === undefined || at - now > QUEUE_RETRY_MS) return 0;
  return Math.max(0, at - now);
}
