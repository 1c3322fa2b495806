import {
  KUBE_ANNOTATION,
  LIMIT,
  parseDuration,
  type Reservation as ReservationObject,
  RESERVATION_CONDITION,
} from "@resource-broker/contract";
import type { Actor, ClusterId, Instant, Reservation } from "@resource-broker/domain";
import { conditionIn, isTrue } from "../forge/conditions.ts";
import { MAX_RENEWAL, oneLine, renewalEcho } from "../forge/texts.ts";
import type { PartyCommand, RenewalWish, Step } from "./step.ts";

/** Of the condition ProviderHolding: the provider cannot hold what was granted. */
const REFUSED = "Refused";

/**
 * What the parties say on the object of a live reservation and the ledger does not know yet. Levels, not edges: who
 * says a thing twice, or while the broker is away, is heard once.
 */
export function planSignal(
  object: ReservationObject,
  reservation: Reservation,
  now: Instant,
): Step | undefined {
  // It is over, and the ledger is about to say so: words would only be turned away.
  if ((reservation.expiresAt ?? now + 1) <= now) return undefined;
  const command = wordOf(object, reservation);
  return command === undefined ? planRenewal(object) : { kind: "submit", command };
}

function wordOf({ status }: ReservationObject, reservation: Reservation): PartyCommand | undefined {
  const { id } = reservation;
  const requester = { by: party(reservation.requester), id };
  const said = status?.conditions;
  if (isTrue(said, RESERVATION_CONDITION.requesterReleased)) return { kind: "release", ...requester };
  const answer = answerOf(status, reservation);
  if (answer !== undefined) return answer;
  const isNew = isTrue(said, RESERVATION_CONDITION.requesterActive) && reservation.phase === "Reserved";
  return isNew ? { kind: "activate", ...requester } : undefined;
}

/** The provider's. */
function answerOf(
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
  const wish = metadata.annotations?.[KUBE_ANNOTATION.renew];
  if (wish === undefined || renewalEcho(wish) === status?.renewed) return undefined;
  return { kind: "renew", wish: readWish(wish) };
}

/** `<duration> <anything new>`. One that cannot be answered must not be carried out: it would be, again and again. */
function readWish(wish: string): RenewalWish {
  const text = renewalEcho(wish);
  if (text !== wish)
    return { text, problem: `the annotation must be one line of at most ${MAX_RENEWAL} characters` };
  const [duration = ""] = text.split(" ", 1);
  const parsed = parseDuration(duration);
  return parsed.ok ? { text, durationMs: parsed.ms } : { text, problem: parsed.problem };
}

function party(clusterId: ClusterId): Actor {
  return { clusterId, isAdmin: false };
}
