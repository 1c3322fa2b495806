import { equals, type Fault, formatTime } from "@resource-broker/base";
import { present } from "@resource-broker/contract";
import {
  MAX_EXPLANATION_LENGTH,
  type ResourceRequest,
  resourceRequestKind,
} from "@resource-broker/contract/crd";
import type { ReleaseState } from "../data-plane/data-plane.ts";
import {
  type ConditionUpdate,
  noticeCondition,
  noticeOver,
  PREEMPTING,
  statusOf,
  unknownMessage,
} from "../manifests/conditions.ts";
import { attemptKey, attemptOf, type Reservation } from "../reservations/reservation.ts";
import type { CachedReservation } from "../reservations/reservation-cache.ts";
import { readRequest } from "./read-request.ts";

export type RequestStatus = NonNullable<ResourceRequest["status"]>;

/** State of the delivery, from the status of the ReservationInstruction. */
export interface DeliveryStatus {
  readonly isDelivered: boolean;
  readonly peered: Pick<ConditionUpdate, "status" | "reason" | "message">;
}

const NOT_YET: DeliveryStatus = {
  isDelivered: false,
  peered: { status: "False", reason: "NotDelivered", message: "the instruction is not written yet" },
};

/** The request, at this moment. */
export interface StatusContext {
  readonly request: ResourceRequest;
  /** Local wall clock. */
  readonly now: number;
}

interface EndedContext extends StatusContext {
  readonly release: ReleaseState | undefined;
}

/** The broker granted it. */
export function reservedStatus(
  context: StatusContext,
  entry: CachedReservation,
  delivery: DeliveryStatus = NOT_YET,
): RequestStatus {
  const { reservation } = entry;
  const { phase, provider } = reservation;
  const reserved = reservedCondition(context, entry);
  const ready: ConditionUpdate = delivery.isDelivered
    ? {
        type: "Ready",
        status: "True",
        reason: "Delivered",
        message: `the resources of ${provider} are ready for use`,
      }
    : { type: "Ready", status: "False", reason: delivery.peered.reason, message: delivery.peered.message };
  return requestStatus(
    context,
    {
      ...attempts(context, reservation),
      phase,
      message: reserved.message,
      ...reservationFields(reservation),
    },
    [
      ready,
      reserved,
      { type: "Peered", ...delivery.peered, isStep: true },
      ...noticeCondition(reservation, context.request.status),
    ],
  );
}

function reservedCondition({ request }: StatusContext, entry: CachedReservation): ConditionUpdate {
  const type = "Reserved";
  const { reservation, syncState } = entry;
  if (syncState === "unknown") {
    return { type, status: "Unknown", reason: "UnknownToBroker", message: unknownMessage(entry) };
  }
  const { message } = reservation;
  if (isFor(reservation, request)) return { type, status: "True", reason: "Granted", message };
  const ignored = `${message}; later changes of the spec are ignored: delete the request and create a new one`;
  return { type, status: "True", reason: "SpecChangeIgnored", message: ignored };
}

/** The CRD makes the spec of a reserved request immutable; an older CRD does not. */
function isFor({ resources }: Reservation, request: ResourceRequest): boolean {
  const reading = readRequest(request);
  return reading.ok && resources !== undefined && equals(reading.resources, resources);
}

/** Granted, and ended. */
export function endedStatus(context: EndedContext, { reservation }: CachedReservation): RequestStatus {
  const { phase, message, endReason: reason } = reservation;
  const why = reason ?? phase;
  return requestStatus(
    context,
    {
      ...attempts(context, reservation),
      ...reservationFields(reservation),
      ...present({ phase, message, reason }),
    },
    [
      { type: "Ready", status: "False", reason: why, message },
      { type: "Reserved", status: "False", reason: why, message },
      { type: "Peered", status: "False", reason: why, message: "the resources were released" },
      cleanCondition(context),
    ],
  );
}

/** Ended, and shown as such; objects in this cluster may remain. */
export function cleaningStatus(context: EndedContext, before: RequestStatus): RequestStatus {
  return requestStatus(context, before, [cleanCondition(context)]);
}

function cleanCondition({ release }: EndedContext): ConditionUpdate {
  const type = "Clean";
  if (release?.kind === "clean") {
    return { type, status: "True", reason: "NothingLeft", message: "nothing of it is left in this cluster" };
  }
  const { reason, message } = release ?? RELEASING;
  return { type, status: "False", reason, message, isStep: true };
}

const RELEASING = { reason: "Releasing", message: "the teardown is about to start" };

function reservationFields(reservation: Reservation): RequestStatus {
  const { reservedAt, expiresAt, cost } = reservation;
  return present({
    targetClusterID: reservation.provider,
    reservationName: reservation.id,
    targetClusterEndpoint: reservation.providerEndpoint,
    reservedAt,
    expiresAt,
    cost,
    decisionID: reservation.decisionId,
  });
}

/** The reservation, restored from the request's status; undefined: the status has too little. */
export function reservationFromStatus(
  { metadata, spec, status = {} }: ResourceRequest,
  clusterId: string,
): Reservation | undefined {
  const { reservationName, targetClusterID, phase, message = "", attempts = 1 } = status;
  const reading = readRequest({ spec });
  const isReserved = phase === "Reserved" || phase === "Active";
  if (!isReserved || !reading.ok || reservationName === undefined || targetClusterID === undefined)
    return undefined;
  return {
    id: reservationName,
    requester: clusterId,
    provider: targetClusterID,
    phase,
    message,
    quantities: reading.request.requestedResources,
    resources: reading.resources,
    ...present({ reservedAt: status.reservedAt, expiresAt: status.expiresAt }),
    dataPlaneIds: {},
    createdAt: String(status.reservedAt ?? metadata.creationTimestamp),
    key: attemptKey(String(metadata.uid), attempts),
  };
}

export interface NotReserved {
  readonly phase: "Pending" | "Failed";
  readonly reason: string;
  readonly endReason?: NonNullable<RequestStatus["reason"]>;
  readonly message: string;
  readonly attempts: number;
  readonly nextAttemptAt?: number;
  /** The broker's refusal, with its reasons. */
  readonly refusal?: Fault;
  /** The preempted reservation whose place in the queue it asks for. */
  readonly resumes?: string;
}

/** Nothing is reserved: pending, or failed. */
export function notReservedStatus(context: StatusContext, outcome: NotReserved): RequestStatus {
  const { phase, reason, endReason, message, attempts, nextAttemptAt, refusal, resumes } = outcome;
  return requestStatus(
    context,
    present({
      phase,
      message,
      reason: endReason,
      attempts: attempts === 0 ? undefined : attempts,
      nextAttemptTime: nextAttemptAt === undefined ? undefined : formatTime(nextAttemptAt),
      decisionID: refusal?.details.decisionID,
      explanation: refusal && explanationOf(refusal),
      resumes,
    }),
    [
      { type: "Ready", status: "False", reason, message },
      { type: "Reserved", status: "False", reason, message },
      { type: "Peered", status: "False", reason: "NotReserved", message: "nothing is reserved" },
    ],
  );
}

/** One line per candidate, and last what would fit; the last line is never cut. */
function explanationOf({ details: { reasons, flip } }: Fault): string | undefined {
  if (reasons === undefined || reasons.length === 0) return flip;
  const lines = reasons.map(({ clusterID, message }) => `${clusterID}: ${message}`).join("\n");
  return flip === undefined ? lines : `${lines.slice(0, MAX_EXPLANATION_LENGTH - flip.length - 1)}\n${flip}`;
}

/** The number of attempts; the reservation's key has it even if the status does not. */
function attempts({ request }: StatusContext, { key }: Reservation): RequestStatus {
  const count = Math.max(request.status?.attempts ?? 0, attemptOf(key)?.attempt ?? 1);
  return { attempts: count };
}

/** The status with these fields and conditions; other conditions stay. */
export function requestStatus(
  context: StatusContext,
  status: RequestStatus,
  updates: readonly ConditionUpdate[],
): RequestStatus {
  const { request, now } = context;
  const { generation: observedGeneration } = request.metadata;
  const before = request.status;
  const fields: RequestStatus = { ...resumed(before, status), ...status, ...present({ observedGeneration }) };
  const all = [...updates, ...lapsed(before, updates)];
  const update = { before, updates: all, observedGeneration, wallMs: now };
  return statusOf(resourceRequestKind.status, fields, update);
}

/** Its old place is asked for until something is reserved, or nothing more is asked for. */
function resumed(before: RequestStatus | undefined, { phase }: RequestStatus): RequestStatus {
  return phase === "Pending" ? present({ resumes: before?.resumes }) : {};
}

const OUT_OF_QUEUE = {
  type: "Queued",
  status: "False",
  reason: "NotWaiting",
  message: "it does not wait in the queue",
} as const;

/** Conditions that nothing is said of any more. Only a request that has waited, or was under notice, has them. */
function lapsed(before: RequestStatus | undefined, updates: readonly ConditionUpdate[]): ConditionUpdate[] {
  const isSaid = (wanted: string): boolean => updates.some(({ type }) => type === wanted);
  const hasWaited = before?.conditions?.some(({ type }) => type === OUT_OF_QUEUE.type) === true;
  return [
    ...(hasWaited && !isSaid(OUT_OF_QUEUE.type) ? [OUT_OF_QUEUE] : []),
    ...(isSaid(PREEMPTING) ? [] : noticeOver(before)),
  ];
}
