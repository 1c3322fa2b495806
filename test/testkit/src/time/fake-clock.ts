import type { Clock } from "@resource-broker/base";

/** A clock for tests: time passes only when the test advances it. */
export interface FakeClock extends Clock {
  /** Lets so much time pass on both clocks and fires what is due, in order, letting promises settle in between. */
  readonly advance: (milliseconds: number) => Promise<void>;
  /** Moves the wall clock alone, as an administrator or a broken NTP server would. */
  readonly jumpWall: (milliseconds: number) => void;
}

interface Timer {
  readonly at: number;
  readonly action: () => void;
}

export function fakeClock(wallMs: number = Date.UTC(2026, 0, 5, 12)): FakeClock {
  let wall = wallMs;
  let monotonic = 1000;
  const timers = new Set<Timer>();
  const next = (until: number): Timer | undefined =>
    [...timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
  const passTo = (moment: number) => {
    wall += moment - monotonic;
    monotonic = moment;
  };
  return {
    wallMs: () => wall,
    monotonicMs: () => monotonic,
    after: (delayMs, action) => {
      const timer = { at: monotonic + delayMs, action };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance: async (milliseconds) => {
      const until = monotonic + milliseconds;
      await settle();
      for (let timer = next(until); timer !== undefined; timer = next(until)) {
        timers.delete(timer);
        passTo(Math.max(timer.at, monotonic));
        timer.action();
        await settle();
      }
      passTo(until);
    },
    jumpWall: (milliseconds) => {
      wall += milliseconds;
    },
  };
}

/** Lets everything run that waits for nothing but its turn. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
}
