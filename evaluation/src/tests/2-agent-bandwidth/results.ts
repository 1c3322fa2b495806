import type { AgentAtRest, AgentSample } from "../agent-at-rest/agent-at-rest.ts";

/** Within this the agent starts, connects and tells the broker everything for the first time. */
const FIRST_MS = 30_000;
/** Shorter than an interval, there may be an advertisement in it, or none. */
const LEAST_SECONDS = 29;

export interface Bandwidth {
  readonly seconds: number;
  readonly sentBytes: number;
  readonly receivedBytes: number;
  readonly sentPerSecond: number;
  readonly receivedPerSecond: number;
  readonly firstSentBytes: number;
  /** After the first 30 s. Undefined: it was not watched for an interval more. */
  readonly laterSentPerSecond?: number;
}

export function bandwidthOf({ samples }: Pick<AgentAtRest, "samples">): Bandwidth | undefined {
  const last = samples.at(-1);
  if (last === undefined || last.atMs === 0) return undefined;
  const seconds = last.atMs / 1000;
  const first = samples.findLast(({ atMs }) => atMs <= FIRST_MS * 1.01) ?? last;
  const onCleanup = (last.atMs - first.atMs) / 1000;
  return {
    seconds,
    sentBytes: last.sentBytes,
    receivedBytes: last.receivedBytes,
    sentPerSecond: last.sentBytes / seconds,
    receivedPerSecond: last.receivedBytes / seconds,
    firstSentBytes: first.sentBytes,
    ...(onCleanup < LEAST_SECONDS
      ? {}
      : { laterSentPerSecond: (last.sentBytes - first.sentBytes) / onCleanup }),
  };
}

/** One point for every so many milliseconds: a line of a thousand points says no more. */
export function thinned(samples: readonly AgentSample[], everyMs: number): AgentSample[] {
  let next = 0;
  return samples.filter(({ atMs }) => {
    if (atMs < next) return false;
    next = atMs + everyMs * 0.98;
    return true;
  });
}
