import { setTimeout as sleep } from "node:timers/promises";

/** Runs a task when the one before it in its lane has ended; there are as many lanes as may be under way. */
export type ConcurrencyLimit = <T>(task: () => Promise<T>) => Promise<T>;

export function limitConcurrency(most: number): ConcurrencyLimit {
  const lanes: Promise<unknown>[] = [];
  let next = 0;
  return (task) => {
    const lane = next++ % most;
    const done = (lanes[lane] ?? Promise.resolve()).then(task);
    // The next one in the lane does not care how this one ended.
    lanes[lane] = done.catch(() => undefined);
    return done;
  };
}

export interface Parallel {
  readonly count: number;
  readonly atOnce: number;
  readonly signal?: AbortSignal;
}

/** Runs a task for each number from 0 on, so many of them under way at any time. */
export async function inParallel(
  { count, atOnce, signal }: Parallel,
  task: (number: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const some = async (): Promise<void> => {
    while (next < count) {
      signal?.throwIfAborted();
      await task(next++);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, some));
}

/** Registers a cleanup. */
export type OnCleanup = (end: () => unknown) => void;

/** Runs the cleanups in reverse order at the end. A failed cleanup does not prevent the others. */
export async function withCleanup<T>(use: (later: OnCleanup) => Promise<T>): Promise<T> {
  const endings: (() => unknown)[] = [];
  try {
    return await use((end) => void endings.push(end));
  } finally {
    for (const end of endings.reverse()) {
      try {
        await end();
      } catch {
        // It has ended already.
      }
    }
  }
}

interface Looking {
  readonly everyMs: number;
  readonly withinMs: number;
  readonly signal?: AbortSignal;
}

/** Looks again and again until there is something, at least once. Undefined: there was nothing in time. */
export async function lookUntil<T>(
  { everyMs, withinMs, signal }: Looking,
  look: () => T | undefined | Promise<T | undefined>,
): Promise<T | undefined> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const seen = await look();
    if (seen !== undefined || performance.now() >= deadline) return seen;
    await sleep(everyMs, undefined, signal === undefined ? {} : { signal });
  }
}
