import { amountOf, resourceNames, shortage } from "../resources/resource-vector.ts";
import type { Candidate } from "./candidate.ts";
import { FILTERS, type SchedulingContext } from "./filters.ts";

/** The rejected candidates closest to fitting: fewest rejecting filters first, then the smallest shortage. */
export function nearestMisses(
  refused: readonly Candidate[],
  context: SchedulingContext,
  limit: number,
): Candidate[] {
  const filters = FILTERS.filter((filter) => filter.applies(context));
  const reasonsFor = (candidate: Candidate) =>
    filters.filter((filter) => filter.rejects(candidate, context)).length;
  return refused
    .map((candidate) => ({
      candidate,
      reasons: reasonsFor(candidate),
      distance: distanceOf(candidate, context),
    }))
    .sort(
      (a, b) =>
        a.reasons - b.reasons ||
        a.distance - b.distance ||
        (a.candidate.clusterId < b.candidate.clusterId ? -1 : 1),
    )
    .slice(0, limit)
    .map(({ candidate }) => candidate);
}

/** Sum of the missing shares of the requested resources; infinite for the requester itself. */
function distanceOf(candidate: Candidate, { requester, request }: SchedulingContext): number {
  if (candidate.clusterId === requester) return Number.POSITIVE_INFINITY;
  const missing = shortage(request.resources, candidate.available);
  let distance = 0;
  for (const name of resourceNames(missing)) {
    distance += amountOf(missing, name) / amountOf(request.resources, name);
  }
  return distance;
}
