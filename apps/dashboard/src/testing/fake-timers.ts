import type { Timers } from "../time/clock.ts";

export interface FakeTimers extends Timers {
  /** Lets time pass; timers fire in order, each followed by what was waiting for it. */
  readonly advance: (ms: number) => Promise<void>;
  readonly pending: () => number;
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
    advance: async (ms) => {
      await settle();
      const until = now + ms;
      for (let timer = next(until); timer !== undefined; timer = next(until)) {
        planned.delete(timer);
        now = Math.max(now, timer.at);
        timer.action();
        await settle();
      }
      now = until;
      await settle();
    },
    pending: () => planned.size,
  };
}

/** Lets everything run that waits only for promises, streams among them. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 200; turn++) await Promise.resolve();
}
