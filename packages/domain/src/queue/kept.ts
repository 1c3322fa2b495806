import { add, fits, type ResourceVector, subtract } from "@resource-broker/base";
import type { ClusterId, Instant, ReservationId } from "../reservation/ids.ts";
import { lifetimeOf } from "../scheduling/policy.ts";
import type { Candidate, Kept } from "../scheduling/candidate-table.ts";
import type { SchedulingContext } from "../scheduling/scheduling-context.ts";
import type { NominatedRoom } from "./waiting.ts";

interface BeforeLook {
  readonly plans: ReadonlyMap<ReservationId, Kept>;
  readonly candidateTable: { readonly candidates: readonly Pick<Candidate, "kept">[] };
}

interface FoundInLook {
  readonly plans: readonly Kept[];
  readonly rooms?: readonly NominatedRoom[];
}

/** True when this request must not take what the candidate keeps for another. */
export function isKeptForOther(candidate: Candidate, context: SchedulingContext): boolean {
  const { kept } = candidate;
  if (kept === undefined || !binds(kept, context) || endsBefore(kept, context)) return false;
  return !fits(context.request.resources, besides(candidate.available, kept));
}

/** Waiting requests know who comes before them. A newcomer gives way to those of its own priority, and of higher ones. */
function binds(kept: Kept, { request, isBehind }: SchedulingContext): boolean {
  return isBehind === undefined ? kept.priority >= request.priority : isBehind(kept.id);
}

/** A short one gives its capacity back in time. What others were given notice for is lent to nobody else. */
function endsBefore({ from, roomBy, victims }: Kept, { request, now, policy }: SchedulingContext): boolean {
  if (victims !== undefined) return false;
  const lifetimeMs = lifetimeOf(request, policy);
  if (lifetimeMs === undefined) return false;
  if (from !== undefined) return now + lifetimeMs + policy.queue.turnaroundMs <= from;
  return roomBy === undefined ? lifetimeMs <= policy.queue.backfillMs : now + lifetimeMs <= roomBy;
}

/** Kept for a nominated request for which nobody got notice. */
export function isHeldOpen({ from, victims }: Kept): boolean {
  return from === undefined && victims === undefined;
}

export function roomAt(rooms: readonly NominatedRoom[], provider: ClusterId): Instant | undefined {
  return rooms.find((room) => room.provider === provider)?.by;
}

/**
 * True when what is found in a look may let a request in: less is kept for those that had a plan, or others may use what is
 * kept for a nominated one for another time.
 */
export function letsSomebodyIn(
  { plans: before, candidateTable }: BeforeLook,
  { plans, rooms = [] }: FoundInLook,
): boolean {
  const byId = new Map(plans.map((plan) => [plan.id, plan]));
  const isMoved = ({ kept }: Pick<Candidate, "kept">): boolean =>
    kept !== undefined && isHeldOpen(kept) && kept.roomBy !== roomAt(rooms, kept.provider);
  return (
    [...before.values()].some((plan) => keepsLess(byId.get(plan.id), plan)) ||
    candidateTable.candidates.some(isMoved)
  );
}

/** Not for as long, or no longer at this provider: others may have waited for that. */
function keepsLess(plan: Kept | undefined, before: Kept): boolean {
  if (plan === undefined || plan.provider !== before.provider) return true;
  const { from = Number.POSITIVE_INFINITY } = plan;
  return before.from !== undefined && from > before.from;
}

/** What is left when the request that it is kept for starts. May be below zero. */
function besides(available: ResourceVector, kept: Kept): ResourceVector {
  return subtract(add(available, kept.returning), kept.resources);
}

/**
 * The latest end that a renewal may have, because what the reservation holds is kept for a waiting request; undefined: none.
 * `held`: what the reservation gives back when it ends.
 */
export function latestEnd(
  candidate: Pick<Candidate, "available" | "kept">,
  { held, expiresAt }: { readonly held: ResourceVector; readonly expiresAt: Instant },
  turnaroundMs: number,
): Instant | undefined {
  const { kept } = candidate;
  if (kept === undefined) return undefined;
  const { from } = kept;
  const then = add(candidate.available, kept.returning);
  if (from === undefined) return fits(kept.resources, then) ? undefined : expiresAt;
  // One that ends later was not counted on.
  if (expiresAt + turnaroundMs > from) return undefined;
  const without = subtract(then, held);
  return fits(kept.resources, without) ? undefined : from - turnaroundMs;
}
