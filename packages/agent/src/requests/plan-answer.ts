import type { Fault, FaultCode, ReservationDTO, ResourceRequest } from "@resource-broker/contract";
import { NO_BROKER } from "../transport/no-broker.ts";
import { type NotReserved, notReservedStatus, type RequestStatus } from "./request-status.ts";

/** A queued request asks again at least this often; the broker's news of freed capacity makes it earlier. */
export const QUEUE_RETRY_MS = 30_000;

/** What a refusal means: ended for good, worth another attempt later, or no answer at all. */
const LASTING: Readonly<Partial<Record<FaultCode, "NoCapacity" | "Invalid">>> = {
  "no-capacity": "NoCapacity",
  "quota-exceeded": "NoCapacity",
  invalid: "Invalid",
  malformed: "Invalid",
  "not-yet": "Invalid",
  "ttl-too-long": "Invalid",
  "too-large": "Invalid",
  unsupported: "Invalid",
};

export interface AnsweredPlan {
  readonly status: RequestStatus;
  /** Absent: nothing more is to be done, or, where it is unanswered, the pause grows with each failure. */
  readonly requeueAfterMs?: number;
  /** True: nothing was decided, or nobody knows; the same key is used again. */
  readonly isUnanswered?: boolean;
}

interface Asked {
  readonly request: ResourceRequest;
  /** Wall clock of this machine. */
  readonly now: number;
}

/** Written down before a broker is asked that looks at no keys: were the answer lost, nobody may ask again. */
export function planAsking(state: Asked): RequestStatus {
  return notReservedStatus(state, {
    phase: "Pending",
    reason: ASKING,
    message: "the broker is being asked",
    attempts: nextAttempt(state),
  });
}

/** A broker that looks at no keys may have booked, and would book again. */
export function planLostAnswer(state: Asked): AnsweredPlan {
  const message =
    "the answer of the broker was lost, and an older broker books twice when it is asked twice: ask its operator whether something is reserved for this cluster, then create a new request";
  const attempts = Math.max(state.request.status?.attempts ?? 0, 1);
  return { status: notReservedStatus(state, { phase: "Failed", reason: "AnswerLost", message, attempts }) };
}

export function nextAttempt({ request }: Asked): number {
  return (request.status?.attempts ?? 0) + 1;
}

/** It was asked for with a broker that must not be asked twice, and nobody wrote down what came of it. */
export function isAsking({ phase, conditions = [] }: RequestStatus): boolean {
  return (
    phase === "Pending" && conditions.some(({ type, reason }) => type === "Reserved" && reason === ASKING)
  );
}

const ASKING = "Asking";

/** It asks for something that no broker could make sense of. */
export function planInvalid(state: Asked, message: string): AnsweredPlan {
  const attempts = state.request.status?.attempts ?? 0;
  return { status: notReservedStatus(state, { ...failed("Invalid", message), attempts }) };
}

/** The key of this attempt is of no use any more; the next attempt has its own. */
const NEXT_KEY: readonly FaultCode[] = ["key-released", "key-mismatch"];

/** The broker refused, or did not answer. */
export function planRefusal(state: Asked, fault: Fault): AnsweredPlan {
  const { request, now } = state;
  const asked = nextAttempt(state);
  if (NEXT_KEY.includes(fault.code)) {
    const story: NotReserved = {
      phase: "Pending",
      reason: "AskingAgain",
      message: fault.message,
      attempts: asked,
    };
    return { status: notReservedStatus(state, story), requeueAfterMs: 0 };
  }
  const endReason = LASTING[fault.code];
  if (endReason === undefined) return planUnanswered(state, fault);
  if (endReason === "NoCapacity" && request.spec.queue === true) {
    const story: NotReserved = {
      phase: "Pending",
      reason: "Queued",
      message: `${unended(fault.message)}; asking again as soon as capacity is freed (attempt ${asked})`,
      attempts: asked,
      nextAttemptAt: now + QUEUE_RETRY_MS,
      refusal: fault,
    };
    return { status: notReservedStatus(state, story), requeueAfterMs: QUEUE_RETRY_MS };
  }
  const story = { ...failed(endReason, fault.message), attempts: asked, refusal: fault };
  return { status: notReservedStatus(state, story) };
}

/** Without its full stop: something follows. */
function unended(sentence: string): string {
  return sentence.replace(/\.$/, "");
}

/** However long a broker wants to be left alone. */
const LONGEST_PAUSE_MS = 300_000;

/** Nothing was decided, or nobody knows. */
export function planUnanswered(state: Asked, fault: Fault): AnsweredPlan {
  const { request } = state;
  const story: NotReserved = {
    phase: "Pending",
    reason: UNANSWERED[fault.code] ?? "BrokerUnavailable",
    message: `${unended(fault.message)}; asking again`,
    attempts: request.status?.attempts ?? 0,
  };
  const { retryAfterMs } = fault.details;
  return {
    status: notReservedStatus(state, story),
    ...(retryAfterMs === undefined ? {} : { requeueAfterMs: Math.min(retryAfterMs, LONGEST_PAUSE_MS) }),
    isUnanswered: true,
  };
}

/** There is nobody to ask, and nothing to wait for. */
export function planNoBroker(state: Asked): AnsweredPlan {
  const message = `${NO_BROKER}: nothing can be borrowed`;
  const attempts = state.request.status?.attempts ?? 0;
  return { status: notReservedStatus(state, { phase: "Pending", reason: "NoBroker", message, attempts }) };
}

export const WRONG_ANSWER = "WrongAnswer";

/** The broker answered with a reservation that is not this attempt's: nothing of it is taken up. */
export function planWrongAnswer(state: Asked, { id, requesterID }: ReservationDTO): AnsweredPlan {
  const message = `the broker answered with the reservation ${id} of ${requesterID}, which is not what was asked for: check who answers at the broker's address; asking again`;
  const attempts = state.request.status?.attempts ?? 0;
  const story: NotReserved = { phase: "Pending", reason: WRONG_ANSWER, message, attempts };
  return { status: notReservedStatus(state, story), isUnanswered: true };
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
