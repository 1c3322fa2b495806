import { formatTime, safeJson, safeLine, truncate } from "@resource-broker/base";
import { type Disclosure, fromDecision, present } from "@resource-broker/contract";
import {
  KUBE_ANNOTATION,
  noticeMessage,
  RESERVATION_CONDITION,
  type Reservation as ReservationObject,
  reservationKind,
} from "@resource-broker/contract/crd";
import {
  CALLS_PROTOCOL,
  type Decision,
  type EndReason,
  type Instant,
  isFinal,
  isLive,
  type LedgerView,
  type Policy,
  type QueuePlace,
  type Reservation,
  type Waiting,
} from "@resource-broker/domain";
import { type RenderContext, renderReservation } from "../../shared/render.ts";
import { renderWaiting } from "../../shared/render-waiting.ts";
import { completeStatus, conditionMaker, type DesiredCondition, type StatusOwnership } from "./conditions.ts";

const MAX_DECISION = 262_144;

export const MAX_RENEWAL = 253;

export function oneLine(text: string, maxLength: number): string {
  return truncate(safeLine(text), maxLength);
}

/** A renewal annotation as `status.renewed` repeats it: as it is, or as much of it as one line can hold. */
export function renewalEcho(renewal: string): string {
  return oneLine(renewal, MAX_RENEWAL);
}

/** Placeholder for `status.decision` in the cache: the text may have hundreds of kilobytes and is not cached. */
export const DECISION_PLACEHOLDER = "{}";

/** The whole decision as JSON; nothing where it would be too large for an object. */
export function decisionText(decision: Decision, disclosure: Disclosure): { readonly decision?: string } {
  const text = safeJson(JSON.stringify(fromDecision(decision, disclosure)));
  return text.length > MAX_DECISION ? {} : { decision: text };
}

export type ReservationStatus = NonNullable<ReservationObject["status"]>;

/** What a status is computed from, beside the reservation and the object it is written to. */
export interface StatusContext extends RenderContext {
  readonly ledgerId: string;
  readonly now: Instant;
}

/** Ledger ID and time of a status. */
type StatusMeta = Pick<StatusContext, "ledgerId" | "now">;

const reserved = conditionMaker(RESERVATION_CONDITION.reserved);
const ready = conditionMaker(RESERVATION_CONDITION.ready);
const queued = conditionMaker(RESERVATION_CONDITION.queued);
const preempting = conditionMaker(RESERVATION_CONDITION.preempting);
const orphaned = conditionMaker(RESERVATION_CONDITION.orphaned);

/** Renewal results have their own field manager, see ports.ts; the decision's text is too large to compare. */
export const RESERVATION_OWNERSHIP: StatusOwnership = {
  othersFields: ["renewed", "code", "explanation", "decision"],
  ownConditions: [
    RESERVATION_CONDITION.reserved,
    RESERVATION_CONDITION.ready,
    RESERVATION_CONDITION.queued,
    RESERVATION_CONDITION.preempting,
    RESERVATION_CONDITION.orphaned,
  ],
  ignoresUpdateTime: true,
};

/**
 * The status of an object that stands for a reservation of the ledger, whoever made the object. The decision's text is
 * added when it is written (`decisionText`): it never changes, and is too large to compare.
 */
export function reservationStatus(
  reservation: Reservation,
  context: StatusContext,
  object?: ReservationObject,
): ReservationStatus {
  const {
    status,
    requesterID: _,
    targetClusterID: __,
    requestedResources: ___,
    ...rendered
  } = renderReservation(context, reservation, { role: "requester" });
  const {
    id,
    key: ____,
    tier: _____,
    priority: ______,
    endedAt: _______,
    // The condition tells of it.
    preempting: ________,
    // Its provider reads the object too: which teams a cluster has is its own matter.
    tenant: _________,
    ...fields
  } = rendered;
  return statusFor(
    {
      ...fields,
      reservationID: id,
      phase: status.phase,
      message: withRenewal(status.message, object),
      ...(status.reservedAt === undefined ? {} : { reservedAt: status.reservedAt }),
      ...(status.expiresAt === undefined ? {} : { expiresAt: status.expiresAt }),
    },
    conditionsFor(reservation, context.ledger),
    { context, object },
  );
}

/** The reason of Ready and Reserved while a request waits. */
const QUEUED = "Queued";
/** Of a waiting request whose place was not looked at yet. */
const NOT_LOOKED_AT = "Waiting";

interface WaitingContext extends StatusMeta {
  readonly policy: Policy;
  /** Undefined: not computed yet. */
  readonly place: QueuePlace | undefined;
}

/** The status of an object whose request waits, or has left the queue without a reservation. */
export function waitingStatus(
  entry: Waiting,
  { policy, place, ...context }: WaitingContext,
  object: ReservationObject,
): ReservationStatus {
  const hasLeft = isFinal(entry.phase);
  const shown = present({ reader: { clusterId: entry.requester }, place: hasLeft ? undefined : place });
  const rendered = renderWaiting({ policy }, entry, shown);
  const { id, createdAt, since, until, reason, generation, tenant, queue } = rendered;
  const { phase, message } = rendered.status;
  const why = hasLeft ? (reason ?? phase) : QUEUED;
  return statusFor(
    present({
      phase,
      message,
      reservationID: id,
      createdAt,
      since,
      until,
      reason,
      generation,
      tenant,
      queue: queue && { ...queue, place: `${queue.position}/${queue.of}` },
    }),
    [
      reserved("False", why, message),
      ready("False", why, message),
      queued(hasLeft ? "False" : "True", hasLeft ? why : (queue?.reason ?? NOT_LOOKED_AT), message),
    ],
    { context, object },
  );
}

export interface Refusal {
  /** Of the table of faults. */
  readonly code: string;
  readonly reason: Extract<EndReason, "NoCapacity" | "Invalid">;
  readonly message: string;
  readonly explanation?: string;
  readonly decisionId?: string;
}

/** Status of a refused request. It is final, and nothing is reserved. */
export function refusedStatus(
  { code, reason, message, explanation, decisionId }: Refusal,
  context: StatusMeta,
  object: ReservationObject,
): ReservationStatus {
  return statusFor(
    {
      phase: "Failed",
      reason,
      message,
      code,
      ...(decisionId === undefined ? {} : { decisionID: decisionId }),
      ...(explanation === undefined ? {} : { explanation }),
    },
    [reserved("False", reason, message), ready("False", reason, message)],
    { context, object },
  );
}

/** True once the broker has decided the request. */
export function isDecided({ status }: ReservationObject): boolean {
  return status?.phase !== undefined && status.phase !== "Pending";
}

/** True if the status says that the request waits in the queue. */
export function isWaiting({ status }: ReservationObject): boolean {
  return status?.phase === "Pending" && status.reservationID !== undefined;
}

/** It was never granted. */
export function isRefused({ status }: ReservationObject): boolean {
  return status?.phase === "Failed" && (status.reason === "NoCapacity" || status.reason === "Invalid");
}

/** Status of an object that the ledger does not know. Its fields stay, and it is not decided again. */
export function orphanedStatus(object: ReservationObject, context: StatusMeta): ReservationStatus {
  const message =
    "The ledger does not know this reservation and does not decide it again. Agents that still have it offer it for adoption; if no agent does, delete the object.";
  const { renewed: _, code: __, explanation: ___, decision: ____, ...kept } = object.status ?? {};
  const conditions = [
    orphaned("True", "UnknownToLedger", message),
    reserved("Unknown", "Orphaned", message),
    ready("False", "Orphaned", message),
  ];
  return statusFor({ ...kept, message }, conditions, { context, object });
}

/** Status for an object with another intent than Reserve. */
export function answerStatus(
  answer: ReservationStatus,
  context: StatusMeta,
  object: ReservationObject,
): ReservationStatus {
  return statusFor(answer, [], { context, object });
}

interface StatusTarget {
  readonly context: StatusMeta;
  readonly object: ReservationObject | undefined;
}

function statusFor(
  status: ReservationStatus,
  desired: readonly DesiredCondition[],
  { context: { now, ledgerId }, object }: StatusTarget,
): ReservationStatus {
  const whole = { ...status, ledgerID: ledgerId, lastUpdateTime: formatTime(now) };
  return completeStatus<ReservationStatus>(whole, desired, { schema: reservationKind.status, now, object });
}

function conditionsFor(reservation: Reservation, ledger: LedgerView): DesiredCondition[] {
  const { phase, reason = "Expired", message, provider } = reservation;
  if (!isLive(phase)) {
    const why = message ?? `it is ${phase}: ${reason}`;
    return [reserved("False", reason, why), ready("False", reason, why)];
  }
  const enforced = isEnforced(reservation, ledger)
    ? ready("True", "Held", `${provider} has acknowledged the reservation`)
    : ready("False", "WaitsForProvider", `${provider} has not acknowledged the reservation yet`);
  return [reserved("True", "Granted", `reserved at ${provider}`), enforced, ...noticeOf(reservation)];
}

function noticeOf({ preemption, provider }: Reservation): DesiredCondition[] {
  if (preemption === undefined) return [];
  const { at, priority: byPriority } = preemption;
  const notice = { at: formatTime(at), ...present({ byPriority }) };
  return [preempting("True", "Notice", noticeMessage(notice, provider))];
}

/** Older agents send no acknowledgement: for them the reservation in the ledger is enough. */
function isEnforced({ acknowledged, provider }: Reservation, ledger: LedgerView): boolean {
  const protocol = ledger.accounts.get(provider)?.advertisement?.protocol ?? CALLS_PROTOCOL;
  return acknowledged || protocol < CALLS_PROTOCOL;
}

function withRenewal(message: string, object: ReservationObject | undefined): string {
  const { renewed, code, explanation } = object?.status ?? {};
  if (code === undefined || renewed === undefined) return message;
  const renewal = object?.metadata.annotations?.[KUBE_ANNOTATION.renew];
  if (renewal === undefined || renewalEcho(renewal) !== renewed) return message;
  return `${message}. The renewal was refused: ${explanation ?? code}`;
}
