import { describeResources, formatTime, truncate } from "@resource-broker/base";
import { isFinal, type QueuePlace, type Waiting, type WaitingReason } from "@resource-broker/domain";
import { MAX_MESSAGE_LENGTH } from "../wire/reservation.ts";
import { MAX_SHARE, type WaitingRequestDTO } from "../wire/waiting.ts";
import { toQuantities } from "./amounts.ts";
import { present } from "./present.ts";

/** The recipient of a waiting request, and values that are not in the ledger. */
export interface WaitingView {
  readonly tenant: string;
  readonly isRequester: boolean;
  /** Absent: not computed. */
  readonly place?: QueuePlace;
}

export function fromWaiting(entry: Waiting, { tenant, isRequester, place }: WaitingView): WaitingRequestDTO {
  const { request, endedAt } = entry;
  return present({
    id: entry.id,
    requesterID: entry.requester,
    namespace: entry.namespace,
    tenant,
    requestedResources: toQuantities(request.resources),
    status: { phase: entry.phase, message: truncate(waitingMessage(entry, place), MAX_MESSAGE_LENGTH) },
    createdAt: formatTime(entry.createdAt),
    since: entry.since === entry.createdAt ? undefined : formatTime(entry.since),
    until: formatTime(entry.until),
    endedAt: endedAt === undefined ? undefined : formatTime(endedAt),
    reason: entry.reason,
    generation: entry.generation,
    key: isRequester ? entry.key : undefined,
    tier: request.tier,
    priority: request.priority,
    queue: place && fromQueuePlace(place),
  });
}

function fromQueuePlace(place: QueuePlace): NonNullable<WaitingRequestDTO["queue"]> {
  const { position, of, reason, share, expectedStart, nominatedTo } = place;
  return present({
    position,
    of,
    reason,
    expectedStart: expectedStart === undefined ? undefined : formatTime(expectedStart),
    nominatedTo,
    share: Math.min(share, MAX_SHARE),
  });
}

interface ShownPlace {
  readonly position: number;
  readonly reason: WaitingReason;
  readonly nominatedTo?: string | undefined;
  readonly expectedStart?: string | undefined;
}

/**
 * Whether a status shall show the new place: the reason or the nomination has changed, the position is half of what it was, or
 * the start is earlier. A place in a queue changes all the time, and the status follows when it matters.
 */
export function isPlaceNews(shown: ShownPlace, now: ShownPlace): boolean {
  const isChanged = shown.reason !== now.reason || shown.nominatedTo !== now.nominatedTo;
  return isChanged || now.position * 2 <= shown.position || isEarlier(shown, now);
}

/** Each start that is written is earlier than the last, so that this ends. */
function isEarlier({ expectedStart: shown }: ShownPlace, { expectedStart: now }: ShownPlace): boolean {
  return now !== undefined && (shown === undefined || now < shown);
}

/** "Waits for 4 CPU / 8Gi Memory at position 2 of 7: no cluster has room; not before 2026-07-01T14:05:00.000Z". */
function waitingMessage({ phase, reason, message, request }: Waiting, place: QueuePlace | undefined): string {
  if (isFinal(phase)) {
    const why = [reason, message].filter((part) => part !== undefined).join(": ");
    return why === "" ? phase : `${phase} (${why})`;
  }
  const waits = `Waits for ${describeResources(request.resources)}`;
  if (place === undefined) return waits;
  const { position, of, expectedStart, nominatedTo } = place;
  const start = expectedStart === undefined ? "" : `; not before ${formatTime(expectedStart)}`;
  const kept = nominatedTo === undefined ? "" : `; capacity of ${nominatedTo} is kept for it`;
  return `${waits} at position ${position} of ${of}: ${WHY[place.reason]}${start}${kept}`;
}

/** Why a request waits, in words. */
const WHY: Readonly<Record<WaitingReason, string>> = {
  Capacity: "no cluster that suits it has room",
  Nomination: "what is free is kept for a request that comes first",
  Quota: "its cluster or tenant holds what the policy allows",
  Budget: "it would exceed the budget of its tenant",
  RequesterSilent: "its agent has not been heard lately",
  Unsatisfiable: "no cluster is large enough, even without any reservation",
  Starting: "it is about to be looked at",
};
