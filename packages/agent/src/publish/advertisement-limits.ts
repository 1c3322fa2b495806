import {
  type AdvertisementDTO,
  advertisementSchema,
  describeProblem,
  LIMIT,
  validate,
} from "@resource-broker/contract";
import { MAX_RESERVATIONS_PER_PROVIDER, type ReservationUsage } from "@resource-broker/domain";

/** Half of the body is for reservations; everything else fits into the other half. */
const USAGE_BYTES = LIMIT.advertisementBodyBytes / 2;
const USAGE_KEYS = LIMIT.jsonKeys / 2;
/** Keys of an entry without extended resources. */
const PLAIN_KEYS = 11;

interface UsageList {
  readonly listed: readonly ReservationUsage[];
  readonly unlisted: readonly ReservationUsage[];
}

/** As many as an advertisement may carry. Where that is not all of them, the largest are listed. */
export function listUsage(all: readonly ReservationUsage[]): UsageList {
  if (countThatFits(all) === all.length) return { listed: all, unlisted: [] };
  const sorted = all.toSorted(bySize);
  const count = countThatFits(sorted);
  return { listed: sorted.slice(0, count), unlisted: sorted.slice(count) };
}

function countThatFits(all: readonly ReservationUsage[]): number {
  let bytes = 0;
  let keys = 0;
  for (const [index, usage] of all.entries()) {
    bytes += JSON.stringify(usage).length;
    keys += PLAIN_KEYS + Object.keys(usage.granted.extended).length;
    keys += Object.keys(usage.used.extended).length;
    if (index >= MAX_RESERVATIONS_PER_PROVIDER || bytes > USAGE_BYTES || keys > USAGE_KEYS) return index;
  }
  return all.length;
}

/** The ID makes the order stable. */
function bySize(a: ReservationUsage, b: ReservationUsage): number {
  const byAmount =
    b.granted.gpus - a.granted.gpus ||
    b.granted.cpuMillis - a.granted.cpuMillis ||
    b.granted.memoryBytes - a.granted.memoryBytes;
  return byAmount || (a.reservationId < b.reservationId ? -1 : 1);
}

/** Optional fields: without them the broker knows less of the cluster and does not lend more. */
const DISPENSABLE: readonly string[] = [
  "clusterName",
  "cost",
  "endpointURL",
  "gpus",
  "labels",
  "liqo",
  "nodeShapes",
];

/**
 * Leaves out parts that the broker would reject, so that they do not block the whole advertisement. Required
 * parts stay; the broker's refusal names the problem.
 */
export function withoutUnreadable(advertisement: AdvertisementDTO): {
  readonly advertisement: AdvertisementDTO;
  readonly omitted: readonly string[];
} {
  const omitted: string[] = [];
  let rest: Readonly<Record<string, unknown>> = { ...advertisement };
  for (;;) {
    const checked = validate(advertisementSchema, rest);
    if (checked.ok) {
      return { advertisement: omitted.length === 0 ? advertisement : checked.value, omitted };
    }
    const [problem] = checked.problems;
    const field = DISPENSABLE.find((name) => name === fieldOf(problem?.path ?? "") && name in rest);
    if (problem === undefined || field === undefined) return { advertisement, omitted: [] };
    rest = Object.fromEntries(Object.entries(rest).filter(([name]) => name !== field));
    omitted.push(`${field}: left out, because ${describeProblem(problem)}`);
  }
}

/** `gpus` of `gpus[3].model`. */
function fieldOf(path: string): string {
  return /^[A-Za-z]*/u.exec(path)?.[0] ?? "";
}
