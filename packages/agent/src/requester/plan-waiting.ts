import { isPlaceNews, present } from "@resource-broker/contract";
import { isFinal } from "@resource-broker/domain";
import { attemptOf, type WaitingRequest } from "../reservations/reservation.ts";
import { type RequestStatus, requestStatus, type StatusContext } from "./request-status.ts";

/** The reason of Ready and Reserved while a request waits. */
const QUEUED = "Queued";

/** The broker has not said yet why the request waits. */
const NOT_LOOKED_AT = "Waiting";

/** The status of a request that waits, or has left the queue without a reservation. */
export function waitingStatus(context: StatusContext, waiting: WaitingRequest): RequestStatus {
  return isFinal(waiting.phase) ? leftStatus(context, waiting) : pendingStatus(context, waiting);
}

/** True: the status says that the request waits at the broker, under the ID that it names. */
export function waitsByStatus({ phase, reservationName }: RequestStatus): boolean {
  return phase === "Pending" && reservationName !== undefined;
}

function pendingStatus(context: StatusContext, waiting: WaitingRequest): RequestStatus {
  const { status: before = {} } = context.request;
  const { place, message } = shownPlace(before, { ...waiting, message: withOldPlace(before, waiting) });
  const { id, tenant } = waiting;
  return requestStatus(
    context,
    present({
      phase: "Pending" as const,
      reservationName: id,
      message,
      tenant,
      queue: place,
      ...attemptsOf(waiting),
    }),
    [
      { type: "Ready", status: "False", reason: QUEUED, message },
      { type: "Reserved", status: "False", reason: QUEUED, message },
      { type: "Peered", status: "False", reason: "NotReserved", message: "nothing is reserved" },
      { type: "Queued", status: "True", reason: place?.reason ?? NOT_LOOKED_AT, message },
    ],
  );
}

function leftStatus(context: StatusContext, waiting: WaitingRequest): RequestStatus {
  const { id, tenant, phase, message, endReason } = waiting;
  const reason = endReason ?? phase;
  return requestStatus(
    context,
    present({ phase, reason: endReason, reservationName: id, message, tenant, ...attemptsOf(waiting) }),
    [
      { type: "Ready", status: "False", reason, message },
      { type: "Reserved", status: "False", reason, message },
      { type: "Peered", status: "False", reason: "NotReserved", message: "nothing is reserved" },
      { type: "Queued", status: "False", reason, message },
    ],
  );
}

function withOldPlace({ resumes }: RequestStatus, { message, since }: WaitingRequest): string {
  if (resumes === undefined) return message;
  const again = since === undefined ? "" : `, so that it waits since ${since}`;
  return `${message}; ${resumes} was preempted${again}`;
}

interface ShownPlace {
  readonly place: RequestStatus["queue"];
  readonly message: string;
}

/** A place in a queue changes all the time. The status follows when it matters, so that it is not written at every look. */
function shownPlace(before: RequestStatus, { id, queue, message }: WaitingRequest): ShownPlace {
  const shown = before.reservationName === id && before.phase === "Pending" ? before.queue : undefined;
  if (queue === undefined)
    return { place: shown, message: shown === undefined ? message : (before.message ?? message) };
  if (shown !== undefined && !isPlaceNews(shown, queue))
    return { place: shown, message: before.message ?? message };
  const { position, of, reason, expectedStart, nominatedTo } = queue;
  return {
    place: present({ position, of, reason, expectedStart, nominatedTo, place: `${position}/${of}` }),
    message,
  };
}

function attemptsOf({ key }: WaitingRequest): Pick<RequestStatus, "attempts"> {
  const made = attemptOf(key);
  return made === undefined ? {} : { attempts: made.attempt };
}
