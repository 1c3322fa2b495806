import { median, percentile } from "../../measure/statistics.ts";
import { type Answer, NO_ANSWER } from "../subject/calls.ts";

/** So many requests in the same moment, again and again. */
export interface Level {
  readonly simultaneous: number;
  /** Of each round, each request. */
  readonly roundsMs: readonly (readonly number[])[];
  readonly timeouts: number;
  /** Answers that are neither a grant, nor a time-out, nor an error of the broker's own. */
  readonly refused: number;
  /** Answered with an error of its own: 5xx. Absent: of a run before these were told apart. */
  readonly failed?: number;
}

/** More requests in the same moment than there is room for. */
export interface Contest {
  readonly simultaneous: number;
  readonly room: number;
  readonly granted: number;
  readonly timeouts: number;
  readonly failed?: number;
}

/** What the ledger says of it afterwards; somebody else's broker does not show it. */
export interface Recount {
  readonly acknowledged: number;
  readonly listed: number;
  /** Acknowledged, but not in the ledger. */
  readonly lost: number;
  /** The same id twice, or a cluster that lends more than it has. */
  readonly doubled: number;
}

/** Of one broker. */
export interface BrokerConcurrency {
  readonly subject: string;
  readonly lenders: number;
  readonly levels: readonly Level[];
  readonly contest: Contest;
  readonly recount?: Recount;
}

export function levelOf(simultaneous: number, rounds: readonly (readonly Answer[])[]): Level {
  const answers = rounds.flat();
  return {
    simultaneous,
    roundsMs: rounds.map((round) => round.filter(({ status }) => status === 201).map(({ tookMs }) => tookMs)),
    timeouts: answers.filter(({ status }) => status === NO_ANSWER).length,
    refused: answers.filter((each) => each.status !== 201 && each.status !== NO_ANSWER && !hasFailed(each))
      .length,
    failed: answers.filter(hasFailed).length,
  };
}

/** An error of the broker's own. */
export function hasFailed({ status }: Answer): boolean {
  return status >= 500;
}

export interface LevelMetrics {
  readonly simultaneous: number;
  readonly requests: number;
  readonly median: number;
  readonly p95: number;
  readonly p99: number;
  /** Medians of the fastest and the slowest tenth of the rounds: the run-to-run spread. */
  readonly low: number;
  readonly high: number;
}

/** Undefined: nobody was granted anything. */
export function metricsOf({ simultaneous, roundsMs }: Level): LevelMetrics | undefined {
  const all = roundsMs.flat();
  const medians = roundsMs.map((round) => median(round)).filter((each) => each !== undefined);
  const [mid, p95, p99] = [median(all), percentile(all, 0.95), percentile(all, 0.99)];
  const [low, high] = [percentile(medians, 0.1), percentile(medians, 0.9)];
  if (mid === undefined || p95 === undefined || p99 === undefined) return undefined;
  return { simultaneous, requests: all.length, median: mid, p95, p99, low: low ?? mid, high: high ?? mid };
}

export interface Listed {
  readonly id: string;
  readonly targetClusterID: string;
}

/** Each reservation takes `taken` of what its provider has, in the same unit. */
export function recount(
  acknowledged: readonly string[],
  listed: readonly Listed[],
  {
    taken,
    roomOf,
  }: { readonly taken: (id: string) => number; readonly roomOf: (provider: string) => number },
): Recount {
  const ids = new Set(listed.map(({ id }) => id));
  const lent = new Map<string, number>();
  for (const { id, targetClusterID } of listed)
    lent.set(targetClusterID, (lent.get(targetClusterID) ?? 0) + taken(id));
  const overcommitted = [...lent].filter(([provider, amount]) => amount > roomOf(provider)).length;
  return {
    acknowledged: acknowledged.length,
    listed: listed.length,
    lost: acknowledged.filter((id) => !ids.has(id)).length,
    doubled: acknowledged.length - new Set(acknowledged).size + overcommitted,
  };
}

export function levelFaults({ simultaneous, timeouts, refused, failed = 0 }: Level): string[] {
  const at = `${simultaneous} simultaneous`;
  return [
    ...(timeouts === 0 ? [] : [`${at}: ${timeouts} requests without an answer`]),
    ...(refused === 0 ? [] : [`${at}: ${refused} requests were refused though there was room`]),
    ...(failed === 0 ? [] : [`${at}: ${failed} requests were answered with an error of the broker (5xx)`]),
  ];
}

export function contestFaults({ simultaneous, room, granted, timeouts, failed = 0 }: Contest): string[] {
  const at = `${simultaneous} simultaneous for ${room} places`;
  return [
    ...(granted === room ? [] : [`${at}: ${granted} granted`]),
    ...(timeouts === 0 ? [] : [`${at}: ${timeouts} requests without an answer`]),
    ...(failed === 0 ? [] : [`${at}: ${failed} requests were answered with an error of the broker (5xx)`]),
  ];
}

export function recountFaults({ acknowledged, listed, lost, doubled }: Recount): string[] {
  return [
    ...(lost === 0 ? [] : [`${lost} acknowledged reservations are not in the ledger`]),
    ...(doubled === 0 ? [] : [`${doubled} double bookings`]),
    ...(listed === acknowledged ? [] : [`${acknowledged} were acknowledged, the ledger holds ${listed}`]),
  ];
}

/** Everything that one broker did not do as it should. */
export function faultsOf({ levels, contest, recount: recounted }: BrokerConcurrency): string[] {
  return [
    ...levels.flatMap(levelFaults),
    ...contestFaults(contest),
    ...(recounted === undefined ? [] : recountFaults(recounted)),
  ];
}
