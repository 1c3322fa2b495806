import {
  KUBE_ANNOTATION,
  LIMIT,
  parseDuration,
  type Reservation as ReservationObject,
  RESERVATION_CONDITION,
} from "@resource-broker/contract";
import type { Actor, ClusterId, Instant, Reservation } from "@resource-broker/domain";
import { conditionIn, isTrue } from "../builders/conditions.ts";
import { MAX_RENEWAL, oneLine, renewalEcho } from "../builders/texts.ts";
import type { PartyCommand, RenewalRequest, Step } from "./step.ts";

/** Of the condition ProviderHolding: the provider cannot hold what was granted. */
const REFUSED = "Refused";

/**
 * Plans the signals of the parties that the ledger does not know yet. Signals are level-triggered: a repeated signal, or one
 * set while the broker was down, has one effect.
 */
export function planSignal(
  object: ReservationObject,
  reservation: Reservation,
  now: Instant,
): Step | undefined {
  // The reservation has expired and the ledger will end it: a signal would be rejected.
  if ((reservation.expiresAt ?? now + 1) <= now) return undefined;
  const command = partySignal(object, reservation);
  return command === undefined ? planRenewal(object) : { kind: "submit", command };
}

function partySignal({ status }: ReservationObject, reservation: Reservation): PartyCommand | undefined {
  const { id } = reservation;
  const requester = { by: party(reservation.requester), id };
  const conditions = status?.conditions;
  if (isTrue(conditions, RESERVATION_CONDITION.requesterReleased)) return { kind: "release", ...requester };
  const answer = providerSignal(status, reservation);
  if (answer !== undefined) return answer;
  const isNew = isTrue(conditions, RESERVATION_CONDITION.requesterActive) && reservation.phase === "Reserved";
  return isNew ? { kind: "activate", ...requester } : undefined;
}

/** The provider's. */
function providerSignal(
  status: ReservationObject["status"],
  { id, provider, acknowledged }: Reservation,
): PartyCommand | undefined {
  const holding = conditionIn(status?.conditions, RESERVATION_CONDITION.providerHolding);
  const by = party(provider);
  if (holding?.status === "True") return acknowledged ? undefined : { kind: "acknowledge", by, id };
  const isRefused = holding?.status === "False" && holding.reason === REFUSED;
  if (!isRefused) return undefined;
  return {
    kind: "refuse",
    by,
    id,
    why: oneLine(holding.message, LIMIT.reasonLength) || "the provider gave no reason",
  };
}

function planRenewal({ metadata, status }: ReservationObject): Step | undefined {
  const renewal = metadata.annotations?.[KUBE_ANNOTATION.renew];
  if (renewal === undefined || renewalEcho(renewal) === status?.renewed) return undefined;
  return { kind: "renew", renewal: parseRenewal(renewal) };
}

/** Parses `<duration> <any new text>`. If the text cannot be repeated in the status, the renewal is refused, or it would be applied again and again. */
function parseRenewal(renewal: string): RenewalRequest {
  const text = renewalEcho(renewal);
  if (text !== renewal)
    return { text, problem: `the annotation must be one line of at most ${MAX_RENEWAL} characters` };
  const [duration = ""] = text.split(" ", 1);
  const parsed = parseDuration(duration);
  return parsed.ok ? { text, durationMs: parsed.ms } : { text, problem: parsed.problem };
}

function party(clusterId: ClusterId): Actor {
  return { clusterId, isAdmin: false };
}
