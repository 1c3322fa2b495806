import { isDeepStrictEqual } from "node:util";
import {
  describeResources,
  Fault,
  type FaultDetails,
  isFaultCode,
  type Log,
  parseJson,
  toFault,
} from "@resource-broker/base";
import {
  type DecisionDTO,
  decisionSchema,
  describeProblems,
  present,
  type RefusalDTO,
  type ReservationDTO,
  reservationRequestSchema,
  reservationSchema,
  toQuantities,
  toReservationRequest,
  validate,
  type WaitingRequestDTO,
  waitingRequestSchema,
} from "@resource-broker/contract";
import { NOBODY, noticeIn, RESERVATION_CONDITION, type Reservation } from "@resource-broker/contract/crd";
import { isFinal, isLive, type ReservationRequest } from "@resource-broker/domain";
import type { Role } from "../broker-communicator.ts";

/** A reservation from an object, with its ledger. */
export interface LedgerReservation {
  readonly reservation: ReservationDTO;
  /** Undefined: not stated. */
  readonly ledgerId: string | undefined;
}

/** A request that waits, or has left the queue without a reservation, from an object, with its ledger. */
export interface LedgerWaiting {
  readonly waiting: WaitingRequestDTO;
  /** Undefined: not stated. */
  readonly ledgerId: string | undefined;
}

/** Undefined: it neither waits, nor has it left the queue. Throws when it cannot be read. */
export function readWaiting(object: Reservation): LedgerWaiting | undefined {
  if (!isOfQueue(object) || intentOf(object) !== "Reserve" || isOrphaned(object)) return undefined;
  const { spec, status = {} } = object;
  const { resources, tier, priority } = readRequest(spec);
  const { id, requesterID } = partiesOf(object);
  const validated = validate(waitingRequestSchema, {
    ...status,
    ...present({ id, requesterID, namespace: spec.namespace, key: spec.key, tier, priority }),
    requestedResources: toQuantities(resources),
    status,
  });
  if (validated.ok) return { waiting: validated.value, ledgerId: status.ledgerID };
  const problem = describeProblems(validated.problems);
  throw new Fault("malformed", `Reservation ${object.metadata.name} cannot be read: ${problem}`);
}

/** True: it waits, or has left the queue; a grant removes the time until which it would wait. */
export function isOfQueue({ status }: Reservation): boolean {
  return status?.until !== undefined && status.reservationID !== undefined;
}

/** Undefined: the object is no reservation of a ledger. Throws when it cannot be read. */
export function readReservation(object: Reservation, role: Role): LedgerReservation | undefined {
  if (!isKnown(object)) return undefined;
  const validated = validate(reservationSchema, toReservation(object, role));
  if (validated.ok) return { reservation: validated.value, ledgerId: object.status?.ledgerID };
  const problem = describeProblems(validated.problems);
  throw new Fault("malformed", `Reservation ${object.metadata.name} cannot be read: ${problem}`);
}

/** Undefined also for an object that cannot be read: it must not block the others. */
export function unlessUnreadable<T>(
  object: Reservation,
  read: (object: Reservation) => T,
  log: Log,
): T | undefined {
  try {
    return read(object);
  } catch (error) {
    const line = { reservation: object.metadata.name, error: toFault(error).message };
    log.warn(line, "a Reservation that cannot be read is left out");
    return undefined;
  }
}

function isKnown(object: Reservation): boolean {
  // The broker writes spec and status separately: without a target the object is not complete.
  const isWhole = isDecided(object) && object.spec.targetClusterID !== undefined;
  const isReserved = isWhole && !isOfQueue(object) && !isRefused(object);
  return intentOf(object) === "Reserve" && isReserved && !isOrphaned(object);
}

/** Unknown fields are removed by the validation. */
function toReservation(object: Reservation, role: Role) {
  const { spec, status = {}, metadata } = object;
  const request = readRequest(spec);
  return {
    ...status,
    ...partiesOf(object),
    ...(role === "requester" && spec.key !== undefined ? { key: spec.key } : {}),
    requestedResources: toQuantities(request.resources),
    status: { ...status, message: messageOf(object, role, request) },
    createdAt: status.createdAt ?? metadata.creationTimestamp,
    tier: request.tier,
    priority: request.priority,
    ...present({ preempting: noticeIn(status.conditions) }),
  };
}

function partiesOf({ spec, status, metadata }: Reservation) {
  return {
    id: status?.reservationID ?? metadata.name,
    requesterID: spec.requesterID ?? NOBODY,
    targetClusterID: spec.targetClusterID,
  };
}

/** The roles of a cluster in a reservation. */
export function rolesOf(object: Reservation, clusterId: string): Role[] {
  const { requesterID, targetClusterID } = partiesOf(object);
  const parties = { requester: requesterID, provider: targetClusterID };
  return (["requester", "provider"] as const).filter((role) => parties[role] === clusterId);
}

export function intentOf({ spec }: Reservation): NonNullable<Reservation["spec"]["intent"]> {
  return spec.intent ?? "Reserve";
}

/** True: the ledger has answered. */
function isDecided({ status }: Reservation): boolean {
  return status?.phase !== undefined && status.phase !== "Pending";
}

/** True: ended or refused. */
export function isFinished({ status }: Reservation): boolean {
  return status?.phase !== undefined && isFinal(status.phase);
}

/** True: never granted. A refusal does not bind the key. */
export function isRefused({ status }: Reservation): boolean {
  const { phase, reason, reservationID } = status ?? {};
  const isByReason = reason === "NoCapacity" || reason === "Invalid";
  return phase === "Failed" && (isByReason || reservationID === undefined);
}

/** True: the ledger does not know it. */
export function isOrphaned({ status }: Reservation): boolean {
  const { orphaned } = RESERVATION_CONDITION;
  return status?.conditions?.some(({ type, status: is }) => type === orphaned && is === "True") === true;
}

/** Why the broker refused the request. */
export function refusalOf({ status = {}, metadata }: Reservation): Fault {
  const { code = "", message, explanation, reason, decisionID } = status;
  const byReason = reason === "Invalid" ? "invalid" : "no-capacity";
  const text = message ?? explanation ?? `${metadata.name} was refused`;
  return new Fault(isFaultCode(code) ? code : byReason, text, {
    details: { ...explanationIn(decisionIn(status.decision)), ...present({ decisionID }) },
  });
}

function explanationIn(decision: DecisionDTO | undefined): Pick<FaultDetails, "reasons" | "flip"> {
  const reasons = reasonsIn(decision);
  return present({ reasons: reasons.length === 0 ? undefined : reasons, flip: decision?.flip });
}

/** Undefined: absent or unreadable. */
function decisionIn(text: string | undefined): DecisionDTO | undefined {
  const validated = validate(decisionSchema, parseJson(text ?? ""));
  return validated.ok ? validated.value : undefined;
}

/** Validates a request; throws its problems. */
export function checkedRequest(request: unknown): ReservationRequest {
  const validated = validate(reservationRequestSchema, request);
  if (!validated.ok) throw new Fault("invalid", describeProblems(validated.problems));
  const mapped = toReservationRequest(validated.value);
  if (!mapped.ok) throw new Fault("invalid", describeProblems(mapped.problems));
  return mapped.value;
}

/** `500m` and `0.5` are the same request. The broker sets a target where none was requested, so only a requested target is compared. */
export function isSameRequest(asked: ReservationRequest, object: Reservation): boolean {
  const { target: wantedTarget, ...others } = asked;
  const { target, ...stored } = readRequest(object.spec);
  return isDeepStrictEqual(others, stored) && (wantedTarget === undefined || wantedTarget === target);
}

function readRequest(spec: Reservation["spec"]): ReservationRequest {
  // Fields that are not part of a request are removed.
  return checkedRequest(spec);
}

function messageOf(object: Reservation, role: Role, { resources }: ReservationRequest): string {
  const { status } = object;
  const { requesterID, targetClusterID } = partiesOf(object);
  if (status?.phase === undefined || !isLive(status.phase)) return status?.message ?? "";
  const what = describeResources(resources);
  return role === "provider"
    ? `Hold ${what} for requester ${requesterID}`
    : `Use ${targetClusterID ?? ""} for ${what}`;
}

function reasonsIn(decision: DecisionDTO | undefined): RefusalDTO[] {
  return (decision?.candidates ?? []).flatMap(({ clusterID, reason, message = "", missing }) =>
    reason === undefined ? [] : [present({ clusterID, reason, message, missing })],
  );
}
