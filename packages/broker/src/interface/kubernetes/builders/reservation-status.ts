import { formatTime } from "@resource-broker/base";
import { fitToSchema } from "@resource-broker/contract";
import {
  KUBE_ANNOTATION,
  RESERVATION_CONDITION,
  type Reservation as ReservationObject,
  reservationKind,
} from "@resource-broker/contract/crd";
import {
  CURRENT_PROTOCOL,
  type EndReason,
  type Instant,
  isLive,
  type LedgerView,
  type Reservation,
} from "@resource-broker/domain";
import { type RenderContext, renderReservation } from "../../shared/render.ts";
import { conditionsOf, type DesiredCondition, isSameStatus, type Ownership } from "./conditions.ts";
import { renewalEcho } from "./texts.ts";

export type ReservationStatus = NonNullable<ReservationObject["status"]>;

/** What a status is computed from, beside the reservation and the object it is written to. */
export interface StatusContext extends RenderContext {
  readonly ledgerId: string;
  readonly now: Instant;
}

/** Ledger ID and time of a status. */
type StatusMeta = Pick<StatusContext, "ledgerId" | "now">;

/** Fields and conditions that the broker applies. Renewal results have their own field manager, see ports.ts. */
const OWNED: Ownership = {
  fields: [
    "phase",
    "reason",
    "reservedAt",
    "expiresAt",
    "targetClusterEndpoint",
    "requesterLiqoID",
    "targetLiqoID",
    "sliceDefaults",
    "cost",
    "generation",
    "decisionID",
    "reservationID",
    "createdAt",
    "fits",
    "outcome",
    "ledgerID",
    "message",
    "observedGeneration",
  ],
  conditions: [RESERVATION_CONDITION.reserved, RESERVATION_CONDITION.ready, RESERVATION_CONDITION.orphaned],
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
  const { id, key: ____, tier: _____, priority: ______, ...fields } = rendered;
  return completeStatus(
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
  const { reserved, ready } = RESERVATION_CONDITION;
  return completeStatus(
    {
      phase: "Failed",
      reason,
      message,
      code,
      ...(decisionId === undefined ? {} : { decisionID: decisionId }),
      ...(explanation === undefined ? {} : { explanation }),
    },
    [
      { type: reserved, status: "False", reason, message },
      { type: ready, status: "False", reason, message },
    ],
    { context, object },
  );
}

/** True once the broker has decided the request. */
export function isDecided({ status }: ReservationObject): boolean {
  return status?.phase !== undefined && status.phase !== "Pending";
}

/** It was never granted. */
export function isRefused({ status }: ReservationObject): boolean {
  return status?.phase === "Failed" && (status.reason === "NoCapacity" || status.reason === "Invalid");
}

/** Status of an object that the ledger does not know. Its fields stay, and it is not decided again. */
export function orphanedStatus(object: ReservationObject, context: StatusMeta): ReservationStatus {
  const { orphaned, reserved, ready } = RESERVATION_CONDITION;
  const message =
    "The ledger does not know this reservation and does not decide it again. Agents that still have it offer it for adoption; if no agent does, delete the object.";
  const before = object.status ?? {};
  const kept = Object.fromEntries(Object.entries(before).filter(([name]) => OWNED.fields.includes(name)));
  return completeStatus(
    { ...kept, message },
    [
      { type: orphaned, status: "True", reason: "UnknownToLedger", message },
      { type: reserved, status: "Unknown", reason: "Orphaned", message },
      { type: ready, status: "False", reason: "Orphaned", message },
    ],
    { context, object },
  );
}

/** Status for an object with another intent than Reserve. */
export function answerStatus(
  answer: ReservationStatus,
  context: StatusMeta,
  object: ReservationObject,
): ReservationStatus {
  return completeStatus(answer, [], { context, object });
}

/** Fields of the broker that others wrote and that an apply of `status` does not remove. */
export function foreignFields(
  { status: current = {} }: ReservationObject,
  status: ReservationStatus,
): string[] {
  return Object.keys(current).filter((name) => OWNED.fields.includes(name) && !Object.hasOwn(status, name));
}

/** True if writing `status` would change nothing. */
export function isStatusCurrent(status: ReservationStatus, object: ReservationObject): boolean {
  return isSameStatus(status, object.status, OWNED);
}

interface StatusTarget {
  readonly context: StatusMeta;
  readonly object: ReservationObject | undefined;
}

function completeStatus(
  status: ReservationStatus,
  desired: readonly DesiredCondition[],
  { context, object }: StatusTarget,
): ReservationStatus {
  const now = formatTime(context.now);
  const observedGeneration = object?.metadata.generation;
  return fitToSchema(reservationKind.status, {
    ...status,
    ledgerID: context.ledgerId,
    lastUpdateTime: now,
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    ...(desired.length === 0
      ? {}
      : { conditions: conditionsOf(desired, object?.status?.conditions, { now, observedGeneration }) }),
  });
}

function conditionsFor(reservation: Reservation, ledger: LedgerView): DesiredCondition[] {
  const { reserved, ready } = RESERVATION_CONDITION;
  const { phase, reason = "Expired", message, provider } = reservation;
  if (!isLive(phase)) {
    const why = message ?? `it is ${phase}: ${reason}`;
    return [
      { type: reserved, status: "False", reason, message: why },
      { type: ready, status: "False", reason, message: why },
    ];
  }
  const enforced = isEnforced(reservation, ledger)
    ? ({ status: "True", reason: "Held", message: `${provider} has acknowledged the reservation` } as const)
    : ({
        status: "False",
        reason: "WaitsForProvider",
        message: `${provider} has not acknowledged the reservation yet`,
      } as const);
  return [
    { type: reserved, status: "True", reason: "Granted", message: `reserved at ${provider}` },
    { type: ready, ...enforced },
  ];
}

/** Older agents send no acknowledgement: for them the reservation in the ledger is enough. */
function isEnforced({ acknowledged, provider }: Reservation, ledger: LedgerView): boolean {
  const protocol = ledger.accounts.get(provider)?.advertisement?.protocol ?? CURRENT_PROTOCOL;
  return acknowledged || protocol < CURRENT_PROTOCOL;
}

function withRenewal(message: string, object: ReservationObject | undefined): string {
  const { renewed, code, explanation } = object?.status ?? {};
  if (code === undefined || renewed === undefined) return message;
  const renewal = object?.metadata.annotations?.[KUBE_ANNOTATION.renew];
  if (renewal === undefined || renewalEcho(renewal) !== renewed) return message;
  return `${message}. The renewal was refused: ${explanation ?? code}`;
}
