import type { Clock } from "@resource-broker/base";
import type { Line } from "../view/line.ts";

const MS_PER_LETTER = 14;
const MIN_PAUSE_MS = 700;
const MAX_PAUSE_MS = 4_000;

/** Time for a person to read. */
export interface ReadingPauses {
  /** Resolves when the reader had time to read the text, or presses a key. */
  readonly wait: (rows: readonly Line[]) => Promise<void>;
  /** Somebody has read enough. */
  readonly skip: () => void;
}

/** Nobody reads along: a pipe, a test. */
export const NO_PAUSES: ReadingPauses = { wait: () => Promise.resolve(), skip: () => undefined };

export function readingPauses(clock: Pick<Clock, "after">): ReadingPauses {
  let wake: (() => void) | undefined;
  return {
    wait: (rows) =>
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
  return Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, letters * MS_PER_LETTER));
}
