import { setTimeout as sleep } from "node:timers/promises";

/** Runs a task as soon as fewer than so many are under way; the others wait in line. */
export type ConcurrencyLimit = <T>(task: () => Promise<T>) => Promise<T>;

export function limitConcurrency(most: number): ConcurrencyLimit {
  const waiting: (() => void)[] = [];
  let underWay = 0;
  const enter = (): Promise<void> => {
    if (underWay < most) {
      underWay += 1;
      return Promise.resolve();
    }
    return new Promise((resolve) => void waiting.push(resolve));
  };
  const leave = (): void => {
    const next = waiting.shift();
    // The place is handed on: it is never free in between.
    if (next === undefined) underWay -= 1;
    else next();
  };
  return async (task) => {
    await enter();
    try {
      return await task();
    } finally {
      leave();
    }
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
