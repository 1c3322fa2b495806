import { type FakeTime, fakeTime, until } from "@resource-broker/testkit";

/** Small enough that no call over a real connection runs out of its time meanwhile. */
const STEP_MS = 500;

/** The agents' own time, which goes faster than that of everybody else while somebody waits. */
export interface FastClock {
  readonly time: FakeTime;
  /** As `until`, and the agents' time passes with every look. */
  readonly until: <T>(what: string, look: () => Promise<T | undefined>) => Promise<T>;
}

/** A quarter of an hour of the agents' time passes in well under this. */
const WITHIN_MS = 100_000;

export function fastClock(): FastClock {
  const time = fakeTime(Math.round(performance.timeOrigin + performance.now()));
  return {
    time,
    until: (what, look) =>
      until(
        what,
        async () => {
          await time.advance(STEP_MS);
          return look();
        },
        WITHIN_MS,
      ),
  };
}
