import type { Fault, FaultCode } from "@resource-broker/base";
import type { Reservation } from "../reservations/reservation.ts";
import { NO_BROKER } from "../transport/no-broker.ts";
import {
  type NotReserved,
  notReservedStatus,
  type RequestStatus,
  type StatusContext,
} from "./request-status.ts";

/** At a broker without a queue, a queued request is sent again at least this often, and sooner when the broker reports freed capacity. */
export const QUEUE_RETRY_MS = 30_000;

/** As many requests wait as the policy allows: the message names the limit. */
export const QUEUE_FULL = "QueueFull";

/** The final reasons, by fault; all other faults are retried. */
const FINAL_REASONS: Readonly<Partial<Record<FaultCode, "NoCapacity" | "Invalid">>> = {
  "no-capacity": "NoCapacity",
  "quota-exceeded": "NoCapacity",
  invalid: "Invalid",
  malformed: "Invalid",
  "not-yet": "Invalid",
  "ttl-too-long": "Invalid",
  "priority-too-high": "Invalid",
  "too-large": "Invalid",
  unsupported: "Invalid",
};

export interface AnsweredPlan {
  readonly status: RequestStatus;
  /** Absent: nothing more to do, or, where it is unanswered, the backoff decides. */
  readonly requeueAfterMs?: number;
  /** True: not decided, or unknown; the same key is used again. */
  readonly isUnanswered?: boolean;
}

/** Written before the call to a broker that ignores keys: if the answer is lost, the request must not be sent again. */
export function planAsking(state: StatusContext): RequestStatus {
  return pending(state, ASKING, { message: "the broker is being asked", attempts: nextAttempt(state) });
}

/** A broker that ignores keys may have reserved, and would reserve again. */
export function planLostAnswer(state: StatusContext): AnsweredPlan {
  const message =
    "the broker's answer was lost, and an older broker reserves again when it is asked again: ask its operator whether something is reserved for this cluster, then create a new request";
  const attempts = Math.max(state.request.status?.attempts ?? 0, 1);
  return { status: notReservedStatus(state, { phase: "Failed", reason: "AnswerLost", message, attempts }) };
}

export function nextAttempt({ request }: StatusContext): number {
  return (request.status?.attempts ?? 0) + 1;
}

/** True: the call went to a broker that ignores keys, and its result was not recorded. */
export function isAsking({ phase, conditions = [] }: RequestStatus): boolean {
  return (
    phase === "Pending" && conditions.some(({ type, reason }) => type === "Reserved" && reason === ASKING)
  );
}

const ASKING = "Asking";

/** The request is invalid for every broker. */
export function planInvalid(state: StatusContext, message: string): AnsweredPlan {
  const attempts = state.request.status?.attempts ?? 0;
  return { status: notReservedStatus(state, { ...failed("Invalid", message), attempts }) };
}

/** The key of this attempt cannot be used any more; the next attempt gets its own. */
const NEXT_KEY: readonly FaultCode[] = ["key-released", "key-mismatch"];

/** The broker refused, or did not answer. `asked`: the attempt that was made. */
export function planRefusal(
  state: StatusContext,
  fault: Fault,
  asked: number = nextAttempt(state),
): AnsweredPlan {
  const { request, now } = state;
  if (NEXT_KEY.includes(fault.code)) return planNextKey(state, fault.message, asked);
  const endReason = FINAL_REASONS[fault.code];
  if (endReason === undefined) return planUnanswered(state, fault, asked);
  if (endReason === "NoCapacity" && request.spec.queue === true) {
    const message = `${withoutFullStop(fault.message)}; asking again as soon as capacity is freed (attempt ${asked})`;
    const queued = { message, attempts: asked, nextAttemptAt: now + QUEUE_RETRY_MS, refusal: fault };
    return { status: pending(state, "Queued", queued), requeueAfterMs: QUEUE_RETRY_MS };
  }
  const outcome = { ...failed(endReason, fault.message), attempts: asked, refusal: fault };
  return { status: notReservedStatus(state, outcome) };
}

/** The key of this attempt is used up: the request is sent again with the next one. */
export function planNextKey(state: StatusContext, message: string, asked: number): AnsweredPlan {
  return { status: pending(state, "AskingAgain", { message, attempts: asked }), requeueAfterMs: 0 };
}

/** Removes the full stop, because more text follows. */
function withoutFullStop(sentence: string): string {
  return sentence.replace(/\.$/, "");
}

/** Upper limit for the broker's Retry-After. */
const LONGEST_PAUSE_MS = 300_000;

/** Not decided, or unknown: the same attempt is made again. */
export function planUnanswered(
  state: StatusContext,
  fault: Fault,
  asked: number = nextAttempt(state),
): AnsweredPlan {
  const reason = UNANSWERED[fault.code] ?? "BrokerUnavailable";
  const { retryAfterMs } = fault.details;
  const prefix = reason === QUEUE_FULL ? "the broker's queue is full: " : "";
  const message = `${prefix}${withoutFullStop(fault.message)}; asking again`;
  return {
    status: pending(state, reason, { message, attempts: asked - 1 }),
    ...(retryAfterMs === undefined ? {} : { requeueAfterMs: Math.min(retryAfterMs, LONGEST_PAUSE_MS) }),
    isUnanswered: true,
  };
}

/** No broker is configured. */
export function planNoBroker(state: StatusContext): AnsweredPlan {
  return { status: pending(state, "NoBroker", { message: `${NO_BROKER}: nothing can be reserved` }) };
}

export const WRONG_ANSWER = "WrongAnswer";

/** The broker answered with another reservation: it is ignored. */
export function planWrongAnswer(
  state: StatusContext,
  { id, requester }: Pick<Reservation, "id" | "requester">,
  asked: number = nextAttempt(state),
): AnsweredPlan {
  const message = `the broker answered with the reservation ${id} of ${requester}, which is not what was asked for: check who answers at the broker's address; asking again`;
  return { status: pending(state, WRONG_ANSWER, { message, attempts: asked - 1 }), isUnanswered: true };
}

const UNANSWERED: Readonly<Partial<Record<FaultCode, string>>> = {
  unreachable: "BrokerUnreachable",
  forbidden: "BrokerRefusesAgent",
  "no-certificate": "BrokerRefusesAgent",
  "rate-limited": "BrokerBusy",
  overloaded: "BrokerBusy",
  "queue-full": QUEUE_FULL,
};

function failed(endReason: "NoCapacity" | "Invalid", message: string): Omit<NotReserved, "attempts"> {
  return { phase: "Failed", reason: endReason, endReason, message };
}

/** Nothing is decided yet; the number of attempts stays, unless it is stated. */
function pending(
  state: StatusContext,
  reason: string,
  { message, ...more }: Pick<NotReserved, "message"> & Partial<NotReserved>,
): RequestStatus {
  const attempts = state.request.status?.attempts ?? 0;
  return notReservedStatus(state, { phase: "Pending", attempts, ...more, reason, message });
}
