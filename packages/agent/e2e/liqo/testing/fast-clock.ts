import { type FakeClock, fakeClock, until } from "@resource-broker/testkit";

const STEP_MS = 500;
/** Well below the five seconds in which a connection must be made, and the ten for an answer. */
const ASK_EVERY_MS = 2000;

/** The agents' own time, which goes faster than that of everybody else while somebody waits. */
export interface FastClock {
  readonly time: FakeClock;
  /** Lets so much of it pass. */
  readonly pass: (milliseconds: number) => Promise<void>;
  /** As `until`, and the agents' time passes with every look. */
  readonly until: <T>(what: string, look: () => Promise<T | undefined>) => Promise<T>;
}

/** A quarter of an hour of the agents' time passes in well under this. */
const WITHIN_MS = 100_000;

/**
 * `ask` is answered by whom the agents ask, too: on a busy machine that may take long, and time that passed meanwhile
 * would be too short for their calls.
 */
export function fastClock(ask: () => Promise<unknown>): FastClock {
  const time = fakeClock(Math.round(performance.timeOrigin + performance.now()));
  let passedMs = 0;
  const pass = async (milliseconds: number): Promise<void> => {
    passedMs += milliseconds;
    if (passedMs >= ASK_EVERY_MS) {
      passedMs = 0;
      await ask().catch(() => undefined);
    }
    await time.advance(milliseconds);
  };
  return {
    time,
    pass,
    until: (what, look) =>
      until(
        what,
        async () => {
          await pass(STEP_MS);
          return look();
        },
        WITHIN_MS,
      ),
  };
}
