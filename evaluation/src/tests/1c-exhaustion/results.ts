import { type Amounts, type Answer, NO_ANSWER } from "../subject/calls.ts";

/** What each request asks for, as in the predecessor's test. */
export const ASKED: Amounts = { cpuMillis: 500, memoryMi: 256 };

export interface ProviderSize extends Amounts {
  readonly clusterId: string;
}

/** One fleet, asked until nothing was left. */
export interface Exhaustion {
  readonly name: string;
  readonly lenders: readonly ProviderSize[];
  /** How many asked at the same time. */
  readonly askers: number;
  /** In the order in which they came in. */
  readonly answers: readonly Answer[];
  /** After one reservation was released: is it lent once more, and only once? Absent where the broker knows no release. */
  readonly afterRelease?: readonly number[];
}

/** Of one broker. */
export interface BrokerRuns {
  readonly subject: string;
  readonly runs: readonly Exhaustion[];
}

/** How many requests a provider has room for. */
function roomFor({ cpuMillis, memoryMi }: Amounts): number {
  return Math.min(Math.floor(cpuMillis / ASKED.cpuMillis), Math.floor(memoryMi / ASKED.memoryMi));
}

export function expectedGrants({ lenders }: Exhaustion): number {
  return lenders.reduce((sum, provider) => sum + roomFor(provider), 0);
}

/** Grants by provider, in the order of the providers. */
export function splitOf({ lenders, answers }: Exhaustion): number[] {
  return lenders.map(({ clusterId }) => answers.filter(({ provider }) => provider === clusterId).length);
}

export function exhaustionFaults(run: Exhaustion): string[] {
  const { lenders, answers, askers, afterRelease } = run;
  const granted = answers.filter(({ status }) => status === 201);
  const [expected, split] = [expectedGrants(run), splitOf(run)];
  // With one asker at a time, nobody may be granted what somebody was refused before.
  const lastGrant = answers.findLastIndex(({ status }) => status === 201);
  const early = answers.slice(0, askers > 1 ? 0 : lastGrant).filter(({ status }) => status === 409).length;
  const unexplained = answers.filter((answer) => isUnexplained(answer, lenders)).length;
  const isReleasedOnce = afterRelease === undefined || String(afterRelease) === "201,409";
  const faults: readonly (readonly [isThere: boolean, fault: string])[] = [
    [granted.length !== expected, `${granted.length} granted, there was room for ${expected}`],
    ...lenders.map(
      (each, at) => [(split[at] ?? 0) > roomFor(each), `${each.clusterId} lends more than it has`] as const,
    ),
    [new Set(granted.map(({ id }) => id)).size !== granted.length, "two grants have the same id"],
    ...answers.map(({ status }) => [status !== 201 && status !== 409, strangeText(status)] as const),
    [early > 0, `${early} refused while there was room`],
    [unexplained > 0, `${unexplained} refusals do not say that every provider is full`],
    [
      !isReleasedOnce,
      `after one release the next two requests got ${afterRelease?.join(" and ")}, not 201 and 409`,
    ],
  ];
  return faults.filter(([isThere]) => isThere).map(([, fault]) => `${run.name}: ${fault}`);
}

function strangeText(status: number): string {
  return status === NO_ANSWER ? "a request got no answer" : `a request was answered with ${status}`;
}

/** A refusal of ours names every provider, and that it had no room. */
function isUnexplained({ status, reasons }: Answer, lenders: Exhaustion["lenders"]): boolean {
  const isFull = (id: string): boolean =>
    reasons?.some(({ clusterID, reason }) => clusterID === id && reason === "capacity") === true;
  return status === 409 && reasons !== undefined && !lenders.every(({ clusterId }) => isFull(clusterId));
}

/** What every provider has left after each answer, in CPU. */
export function freeCpu({
  lenders,
  answers,
}: Exhaustion): readonly { readonly clusterId: string; readonly left: number[] }[] {
  return lenders.map(({ clusterId, cpuMillis }) => {
    let left = cpuMillis;
    const after = answers.map(({ status, provider }) => {
      if (status === 201 && provider === clusterId) left -= ASKED.cpuMillis;
      return left / 1000;
    });
    return { clusterId, left: [cpuMillis / 1000, ...after] };
  });
}
