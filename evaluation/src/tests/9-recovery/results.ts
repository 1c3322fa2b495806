import { median } from "../../measure/statistics.ts";

/** One kill -9, and what came back. */
export interface Recovery {
  /** Acknowledged before the kill. */
  readonly reservations: number;
  /** From the start of the process until its probe and its API say that it is ready. */
  readonly readyMs: number;
  /** From the start of the process until somebody has a new reservation. */
  readonly firstGrantMs: number;
  /** On their way when it was killed, without an answer: each may be there or not. */
  readonly unanswered: number;
  /** Acknowledged, but not there any more. */
  readonly lost: number;
  /** There, though nobody can have asked for it. */
  readonly strange: number;
}

export interface RecoveryStep {
  readonly reservations: number;
  readonly kills: number;
  readonly readyMs: number;
  readonly readyLow: number;
  readonly readyHigh: number;
  readonly firstGrantMs: number;
}

/** Kills at about the same number of reservations, together: by the number that was planned. */
export function stepOf(planned: number, recoveries: readonly Recovery[]): RecoveryStep | undefined {
  const ready = recoveries.map(({ readyMs }) => readyMs);
  const [readyMs, firstGrantMs] = [median(ready), median(recoveries.map((each) => each.firstGrantMs))];
  if (readyMs === undefined || firstGrantMs === undefined) return undefined;
  return {
    reservations: planned,
    kills: recoveries.length,
    readyMs,
    readyLow: Math.min(...ready),
    readyHigh: Math.max(...ready),
    firstGrantMs,
  };
}

/** What is there after a kill, held against what was said before it. */
export function compareWithAcknowledged(
  acknowledged: ReadonlySet<string>,
  listed: readonly string[],
  unanswered: number,
): Pick<Recovery, "lost" | "strange"> {
  const there = new Set(listed);
  let lost = 0;
  for (const id of acknowledged) if (!there.has(id)) lost++;
  const unknown = listed.filter((id) => !acknowledged.has(id)).length;
  // The same id twice is one that nobody asked for, too.
  return { lost, strange: Math.max(0, unknown - unanswered) + (listed.length - there.size) };
}

export function recoveryFaults(recoveries: readonly Recovery[]): string[] {
  return recoveries.flatMap(({ reservations, lost, strange }, number) => [
    ...(lost === 0
      ? []
      : [`kill ${number + 1} at ${reservations}: ${lost} acknowledged reservations were lost`]),
    ...(strange === 0
      ? []
      : [`kill ${number + 1} at ${reservations}: ${strange} reservations that nobody made`]),
  ]);
}
