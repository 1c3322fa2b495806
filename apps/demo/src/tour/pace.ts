import type { Clock } from "@resource-broker/runtime";
import type { Line } from "../view/line.ts";

const PER_LETTER_MS = 14;
const SHORTEST_MS = 700;
const LONGEST_MS = 4_000;

/** Time for a person to read. */
export interface Pace {
  /** Resolves when what was told can have been read, or somebody presses a key. */
  readonly read: (rows: readonly Line[]) => Promise<void>;
  /** Somebody has read enough. */
  readonly skip: () => void;
}

/** Nobody reads along: a pipe, a test. */
export const NO_PAUSES: Pace = { read: () => Promise.resolve(), skip: () => undefined };

export function readingPace(clock: Pick<Clock, "after">): Pace {
  let wake: (() => void) | undefined;
  return {
    read: (rows) =>
      new Promise((resolve) => {
        const done = (): void => {
          cancel();
          wake = undefined;
          resolve();
        };
        const cancel = clock.after(readingMs(rows), done);
        wake = done;
      }),
    skip: () => wake?.(),
  };
}

function readingMs(rows: readonly Line[]): number {
  const letters = rows.flat().reduce((sum, { text }) => sum + text.trim().length, 0);
  return Math.min(LONGEST_MS, Math.max(SHORTEST_MS, letters * PER_LETTER_MS));
}
