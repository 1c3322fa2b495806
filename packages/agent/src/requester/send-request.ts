import type { Fault } from "@resource-broker/base";
import { present } from "@resource-broker/contract";
import type { ResourceRequest } from "@resource-broker/contract/crd";
import { isFault } from "../faults.ts";
import type { AgentParts } from "../core/agent-deps.ts";
import type { Reservation, WaitingRequest } from "../reservations/reservation.ts";
import type { ReservationRequestBody } from "../transport/broker-communicator.ts";

interface SentRequest {
  readonly request: ReservationRequestBody;
  readonly key: string;
}

export type Answer = Reservation | WaitingRequest;

export function isWaiting(answer: Answer): answer is WaitingRequest {
  return !("provider" in answer);
}

/** Sends a request. At a broker with a queue it may wait; an older broker grants or refuses at once. */
export async function sendRequest(
  { communicator, link }: Pick<AgentParts, "communicator" | "link">,
  asked: ResourceRequest,
  { request, key }: SentRequest,
): Promise<Answer> {
  if (link.canQueue() !== true) return communicator.reserve(request, key);
  const whole = queueable(request, asked);
  const { resumes, ...withoutPlace } = whole;
  try {
    return await communicator.reserveOrWait(whole, key);
  } catch (error) {
    // Without the place of its preempted reservation it waits at the end.
    if (resumes !== undefined && isFault(error, "invalid", "malformed"))
      return communicator.reserveOrWait(withoutPlace, key);
    // Not sent: meanwhile an older broker answers at this address.
    if (isFault(error, "unsupported")) return communicator.reserve(request, key);
    throw error;
  }
}

/** With what only a broker with a queue reads. */
function queueable(
  request: ReservationRequestBody,
  { metadata, spec, status }: ResourceRequest,
): ReservationRequestBody {
  const { queue, queueTimeout } = spec;
  const wait = queueTimeout === undefined ? {} : { for: queueTimeout };
  return {
    ...request,
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
    ...(queue === true ? present({ wait, resumes: status?.resumes }) : {}),
  };
}

/** No answer, or one without a clear result. An unsupported call was never sent. */
export function mayHaveReserved({ code, status }: Fault): boolean {
  return status >= 500 && code !== "unsupported";
}
