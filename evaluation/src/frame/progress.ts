const BAR = 24;

/** `about 12 min`, `about 40 s`, `a moment`. */
function durationText(seconds: number): string {
  if (seconds < 10) return "a moment";
  if (seconds < 90) return `about ${10 * Math.ceil(seconds / 10)} s`;
  return `about ${Math.round(seconds / 60)} min`;
}

/** Where people look: standard error, so that output can go elsewhere. */
export interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly write: (text: string) => unknown;
}

export interface Progress {
  /** A test of so many expected seconds begins. */
  readonly begin: (test: string, expectedSeconds: number) => void;
  readonly update: (share: number, doing: string) => void;
  readonly end: (outcome: string) => void;
  /** A line that stays. */
  readonly print: (line: string) => void;
  /** Clears what does not stay. */
  readonly close: () => void;
}

const PLAIN_EVERY_MS = 10_000;
const REDRAW_EVERY_MS = 500;

interface ProgressOptions {
  readonly screen: Screen;
  readonly totalSeconds: number;
  /** Milliseconds, of a clock that only goes forward. */
  readonly now: () => number;
}

/** A bar with the time left on a terminal; elsewhere a line now and then. */
export function createProgress({ screen, totalSeconds, now }: ProgressOptions): Progress {
  const startedAt = now();
  const isTerminal = screen.isTTY === true;
  let current = { test: "", expected: 0, share: 0, doing: "" };
  let done = 0;
  let printedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  /** `[██████──────────] 37 %, about 12 min left · 1a Broker CPU: 20 agents`, cut to the width of the terminal. */
  const draw = (): void => {
    const expectedDone = done + current.share * current.expected;
    const share = totalSeconds === 0 ? 1 : Math.min(1, expectedDone / totalSeconds);
    // As slow as it was so far it will go on; at the beginning nothing is known of that.
    const elapsed = (now() - startedAt) / 1000;
    const slowdown = expectedDone === 0 ? 1 : Math.min(4, Math.max(0.5, elapsed / expectedDone));
    const known = Math.min(1, expectedDone / 20);
    const left = Math.max(0, totalSeconds - expectedDone) * (1 + known * (slowdown - 1));
    const full = Math.round(BAR * share);
    const bar = `[${"█".repeat(full)}${"─".repeat(BAR - full)}]${`${Math.floor(100 * share)} %`.padStart(5)}`;
    const line = `${bar}, ${durationText(left)} left · ${current.test}: ${current.doing}`;
    screen.write(isTerminal ? `\r\u001b[K${line.slice(0, (screen.columns ?? 80) - 1)}` : `${line}\n`);
    printedAt = now();
  };
  const wipe = (): void => {
    if (isTerminal) screen.write("\r\u001b[K");
  };
  const print = (line: string): void => {
    wipe();
    screen.write(`${line}\n`);
  };

  return {
    begin: (test, expected) => {
      current = { test, expected, share: 0, doing: "begins" };
      draw();
      if (!isTerminal) return;
      clearInterval(timer);
      timer = setInterval(draw, REDRAW_EVERY_MS);
      timer.unref();
    },
    update: (share, doing) => {
      current = { ...current, share: Math.min(1, Math.max(0, share)), doing };
      if (!isTerminal && now() - printedAt >= PLAIN_EVERY_MS) draw();
    },
    end: (outcome) => {
      done += current.expected;
      clearInterval(timer);
      print(`${current.test}: ${outcome}`);
      current = { ...current, expected: 0, share: 0 };
    },
    print,
    close: () => {
      clearInterval(timer);
      wipe();
    },
  };
}
