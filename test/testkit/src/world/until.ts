import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 15;
/** Only a guard, below the time-out of a test: so it is this message that is read. */
const DEFAULT_TIMEOUT_MS = 60_000;

/**
 * Polls until there is a value, and returns it. A poll that throws counts as no value, because servers
 * may be down for a while. Rejects with what was last seen to be wrong.
 */
export async function until<T>(
  what: string,
  poll: () => Promise<T | undefined>,
  withinMs = DEFAULT_TIMEOUT_MS,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  let problem: unknown = "nothing was there";
  while (performance.now() < deadline) {
    try {
      const seen = await poll();
      if (seen !== undefined) return seen;
    } catch (error) {
      problem = error;
    }
    await sleep(POLL_MS);
  }
  throw new Error(`waited ${withinMs / 1000} s until ${what}: ${describe(problem)}`, { cause: problem });
}

function describe(problem: unknown): string {
  return problem instanceof Error ? problem.message : String(problem);
}
