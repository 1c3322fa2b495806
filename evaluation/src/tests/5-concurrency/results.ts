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
interface Recount {
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

interface Listed {
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

type Counted = readonly [count: number, fault: string];

/** Everything that one broker did not do as it should. */
export function faultsOf({ levels, contest, recount: counted }: BrokerConcurrency): string[] {
  const { simultaneous, room, granted } = contest;
  const places = `${simultaneous} simultaneous for ${room} places`;
  const rows: Counted[] = [
    ...levels.flatMap((level) => unanswered(`${level.simultaneous} simultaneous`, level)),
    [granted - room, `${places}: ${granted} granted`],
    ...unanswered(places, contest),
    ...(counted === undefined ? [] : miscounted(counted)),
  ];
  return rows.filter(([count]) => count !== 0).map(([, fault]) => fault);
}

function unanswered(at: string, { timeouts, failed = 0, ...level }: Level | Contest): Counted[] {
  const refused = "refused" in level ? level.refused : 0;
  return [
    [timeouts, `${at}: ${timeouts} requests without an answer`],
    [refused, `${at}: ${refused} requests were refused though there was room`],
    [failed, `${at}: ${failed} requests were answered with an error of the broker (5xx)`],
  ];
}

function miscounted({ acknowledged, listed, lost, doubled }: Recount): Counted[] {
  return [
    [lost, `${lost} acknowledged reservations are not in the ledger`],
    [doubled, `${doubled} double bookings`],
    [listed - acknowledged, `${acknowledged} were acknowledged, the ledger holds ${listed}`],
  ];
}
