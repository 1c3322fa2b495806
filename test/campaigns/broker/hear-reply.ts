import { isReserved } from "@resource-broker/client";
import { HEADER, type ReservationDTO, type WaitingRequestDTO } from "@resource-broker/contract";
import { isFinal } from "@resource-broker/domain";
import type { BrokerReply } from "@resource-broker/testkit";
import { reservationOrWaitingIn } from "./read-reply.ts";
import type { TrackedRequest } from "./tracked-request.ts";

/** What was known of a request when a call was sent: a reply that says less is wrong. */
export type KnownBefore = Pick<TrackedRequest, "acknowledged" | "hasLeft" | "release">;

export function knownOf({ acknowledged, hasLeft, release }: TrackedRequest): KnownBefore {
  return { acknowledged, hasLeft, release };
}

/** Notes what a reply of 2xx says of a request. Returns what no client should ever see. */
export function hearReply(request: TrackedRequest, reply: BrokerReply, before: KnownBefore): string[] {
  const { key, requester } = request;
  const found = reservationOrWaitingIn(reply.body);
  const problems =
    found === undefined
      ? [`no reservation in the reply: ${JSON.stringify(reply.body)}`]
      : [
          ...countNew(request, reply, isReserved(found)),
          ...(isReserved(found) ? hearReserved(request, found, before) : hearWaiting(request, found, before)),
        ];
  return problems.map((problem) => `${key} of ${requester}: ${problem}`);
}

/** 201 and 202 say that something is new, unless they are marked as a repetition. */
function countNew(request: TrackedRequest, { status, headers }: BrokerReply, hasProvider: boolean): string[] {
  const isReplay = headers[HEADER.idempotencyReplayed.toLowerCase()] === "true";
  if ((status === 201 && (isReplay || !hasProvider)) || (status === 202 && hasProvider))
    return [`${status}, replayed: ${isReplay}, with a provider: ${hasProvider}`];
  if ((status === 201 || status === 202) && !isReplay) request.created++;
  return request.created > 1 ? ["was made twice"] : [];
}

function hearReserved(request: TrackedRequest, found: ReservationDTO, { hasLeft }: KnownBefore): string[] {
  const { id, targetClusterID: provider, status } = found;
  const known = request.acknowledged ?? { id, provider, reservedAt: status.reservedAt ?? "" };
  request.acknowledged = known;
  const expected = request.queued?.id ?? known.id;
  const isSame = known.id === id && known.provider === provider && expected === id;
  return problemsIn([
    [!isSame, `was ${expected} at ${known.provider}, and is ${id} at ${provider}`],
    [!isRequestIn(found, request), `is another request: ${JSON.stringify(found)}`],
    [hasLeft, `left the queue, and is ${id} at ${provider}`],
  ]);
}

function hearWaiting(request: TrackedRequest, found: WaitingRequestDTO, before: KnownBefore): string[] {
  const { id, status } = found;
  const expected = (request.queued ?? request.acknowledged)?.id ?? id;
  request.queued ??= { id };
  const problems = problemsIn([
    [expected !== id, `was ${expected}, and waits as ${id}`],
    [!isRequestIn(found, request), `is another request: ${JSON.stringify(found)}`],
    [request.waitFor === undefined, "waits, and did not ask to"],
    [before.acknowledged !== undefined, `was reserved, and is ${status.phase}`],
  ]);
  if (isFinal(status.phase)) return [...problems, ...hearLeft(request, found)];
  const wasReleased = before.hasLeft || before.release === "acknowledged";
  return wasReleased ? [...problems, "was released, and waits"] : problems;
}

function hearLeft(request: TrackedRequest, { reason, until, endedAt = "" }: WaitingRequestDTO): string[] {
  request.hasLeft = true;
  const times = { until: Date.parse(until), endedAt: Date.parse(endedAt) };
  return mayLeave(request, { reason, ...times }) ? [] : [`left the queue: ${reason} at ${endedAt}`];
}

export interface Leave {
  readonly reason: string | undefined;
  readonly until: number;
  readonly endedAt: number;
}

/** A request leaves the queue when its client has asked for it, or after its time. */
export function mayLeave({ release }: TrackedRequest, { reason, until, endedAt }: Leave): boolean {
  if (reason === "ReleasedByRequester") return release !== "not asked";
  return reason === "WaitTimeout" && endedAt >= until;
}

function isRequestIn(
  { requestedResources: held, ...found }: Pick<ReservationDTO, "requestedResources" | "requesterID" | "key">,
  { size, requester, key }: TrackedRequest,
): boolean {
  const isSame = found.requesterID === requester && found.key === key;
  return isSame && held.cpu === String(size.cpu) && held.memory === `${size.memoryGi}Gi`;
}

/** The problems that there are. */
export function problemsIn(checks: readonly (readonly [isThere: boolean, problem: string])[]): string[] {
  return checks.flatMap(([isThere, problem]) => (isThere ? [problem] : []));
}
