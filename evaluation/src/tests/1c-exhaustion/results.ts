import type { Amounts } from "../subject/bodies.ts";
import { type Answer, NO_ANSWER } from "../subject/calls.ts";

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
  const { name, lenders, answers, afterRelease } = run;
  const granted = answers.filter(({ status }) => status === 201);
  const expected = expectedGrants(run);
  const split = splitOf(run);
  const over = lenders.filter((provider, at) => (split[at] ?? 0) > roomFor(provider));
  const strange = answers.filter(({ status }) => status !== 201 && status !== 409);
  return [
    ...(granted.length === expected
      ? []
      : [`${name}: ${granted.length} granted, there was room for ${expected}`]),
    ...over.map(({ clusterId }) => `${name}: ${clusterId} lends more than it has`),
    ...(new Set(granted.map(({ id }) => id)).size === granted.length
      ? []
      : [`${name}: two grants have the same id`]),
    ...strange.map(({ status }) =>
      status === NO_ANSWER
        ? `${name}: a request got no answer`
        : `${name}: a request was answered with ${status}`,
    ),
    ...earlyRefusals(run),
    ...unexplained(run),
    ...(afterRelease === undefined || String(afterRelease) === "201,409"
      ? []
      : [
          `${name}: after one release the next two requests got ${afterRelease.join(" and ")}, not 201 and 409`,
        ]),
  ];
}

/** With one asker at a time, nobody may be granted what somebody was refused before. */
function earlyRefusals({ name, askers, answers }: Exhaustion): string[] {
  if (askers > 1) return [];
  const lastGrant = answers.findLastIndex(({ status }) => status === 201);
  const early = answers.slice(0, lastGrant).filter(({ status }) => status === 409).length;
  return early === 0 ? [] : [`${name}: ${early} refused while there was room`];
}

/** A refusal of ours names every provider, and that it had no room. */
function unexplained({ name, lenders, answers }: Exhaustion): string[] {
  const wrong = answers.filter(
    ({ status, reasons }) =>
      status === 409 &&
      reasons !== undefined &&
      !lenders.every(({ clusterId }) =>
        reasons.some((each) => each.clusterID === clusterId && each.reason === "capacity"),
      ),
  );
  return wrong.length === 0
    ? []
    : [`${name}: ${wrong.length} refusals do not say that every provider is full`];
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
