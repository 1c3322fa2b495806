import type { Timers } from "../time/timers.ts";

export interface FakeTimers extends Timers {
  /** Lets time pass; timers fire in order, each followed by what was waiting for it. */
  readonly pass: (ms: number) => Promise<void>;
  readonly waiting: () => number;
}

export function fakeTimers(): FakeTimers {
  let now = 0;
  const planned = new Set<{ readonly at: number; readonly action: () => void }>();
  const next = (until: number) =>
    [...planned].filter(({ at }) => at <= until).toSorted((one, other) => one.at - other.at)[0];
  return {
    now: () => now,
    after: (delayMs, action) => {
      const timer = { at: now + delayMs, action };
      planned.add(timer);
      return () => void planned.delete(timer);
    },
    pass: async (ms) => {
      await settled();
      const until = now + ms;
      for (let timer = next(until); timer !== undefined; timer = next(until)) {
        planned.delete(timer);
        now = Math.max(now, timer.at);
        timer.action();
        await settled();
      }
      now = until;
      await settled();
    },
    waiting: () => planned.size,
  };
}

/** Lets everything run that waits only for promises, streams among them. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 200; turn++) await Promise.resolve();
}
