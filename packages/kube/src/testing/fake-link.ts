import { type Clock, Fault } from "@resource-broker/base";

export type FakeVerb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete";

export interface FakeFailure {
  readonly verb?: FakeVerb;
  /** Absent: once. */
  readonly times?: number;
  readonly fault: Fault;
  /** The server does as it is told, and only its answer is lost. */
  readonly isDone?: boolean;
}

/** What can be made to go wrong between one client and the server. */
export interface FakeLinkControls {
  /** Refuses connections, and breaks the open ones. */
  readonly down: () => void;
  readonly up: () => void;
  /** Breaks the open connections. */
  readonly cut: () => void;
  /** Takes connections but says nothing. */
  readonly pause: () => void;
  /** Says what it has to say on the connections that are open. */
  readonly resume: () => void;
  /** Talks again, but has forgotten the connections that are open: nobody will ever hear anything on those. */
  readonly resumeWithoutStreams: () => void;
  readonly failNext: (failure: FakeFailure) => void;
  /** The next event of a watch is unreadable. */
  readonly corruptNext: () => void;
  /** Forgets failures that did not happen yet. */
  readonly clearFailures: () => void;
  /** How many watches are open. */
  readonly openWatches: () => number;
  /** Every request so far, such as `list pods`. */
  readonly requests: string[];
}

/** One request on its way. */
export interface FakeLine {
  /** Waits out the latency, and for a server that talks. Throws when the line broke or was given up. */
  readonly ready: () => Promise<void>;
  /** Waits while the server says nothing. Throws when the line broke; false: the caller gave up. */
  readonly responds: () => Promise<boolean>;
  /** Waits for something to happen, at most until a moment of the monotonic clock. */
  readonly idle: (untilMs: number) => Promise<void>;
  readonly isCorrupted: () => boolean;
  readonly takeFailure: (verb: FakeVerb) => FakeFailure | undefined;
  readonly close: () => void;
}

interface OpenLine {
  readonly isWatch: boolean;
  isBroken: boolean;
  isDropped: boolean;
  wake: () => void;
}

export interface FakeLink {
  readonly controls: FakeLinkControls;
  readonly open: (what: { verb: FakeVerb; plural: string }, signal?: AbortSignal) => FakeLine;
  readonly wakeAll: () => void;
}

export function fakeLink(clock: Clock, latencyMs: () => number): FakeLink {
  const lines = new Set<OpenLine>();
  const requests: string[] = [];
  let failures: { failure: FakeFailure; left: number }[] = [];
  let isDown = false;
  let isPaused = false;
  let isCorrupting = false;
  const wakeAll = () => {
    for (const line of lines) line.wake();
  };
  const cut = () => {
    for (const line of lines) line.isBroken = true;
    wakeAll();
  };
  const resume = () => {
    isPaused = false;
    wakeAll();
  };
  const takeFailure = (verb: FakeVerb): FakeFailure | undefined => {
    const next = failures.find(({ failure }) => failure.verb === undefined || failure.verb === verb);
    if (next !== undefined) next.left--;
    failures = failures.filter(({ left }) => left > 0);
    return next?.failure;
  };

  const open: FakeLink["open"] = ({ verb, plural }, signal) => {
    requests.push(`${verb} ${plural}`);
    if (isDown) throw new Fault("unreachable", "connection refused");
    const line: OpenLine = {
      isWatch: verb === "watch",
      isBroken: false,
      isDropped: false,
      wake: () => undefined,
    };
    lines.add(line);
    const idle = async (untilMs: number) => {
      await new Promise<void>((resolve) => {
        const delayMs = untilMs - clock.monotonicMs();
        const wake = () => {
          cancel();
          signal?.removeEventListener("abort", wake);
          resolve();
        };
        const cancel = Number.isFinite(delayMs) ? clock.after(delayMs, wake) : () => undefined;
        signal?.addEventListener("abort", wake);
        line.wake = wake;
      });
    };
    const isAborted = () => signal?.aborted === true;
    const responds = async (): Promise<boolean> => {
      while ((isPaused || line.isDropped) && !line.isBroken && !isAborted()) {
        await idle(Number.POSITIVE_INFINITY);
      }
      if (isAborted()) return false;
      if (line.isBroken) throw new Fault("unreachable", "connection reset");
      return true;
    };
    return {
      idle,
      responds,
      takeFailure,
      isCorrupted: () => {
        const was = isCorrupting;
        isCorrupting = false;
        return was;
      },
      ready: async () => {
        const readyAt = clock.monotonicMs() + latencyMs();
        while ((await responds()) && clock.monotonicMs() < readyAt) await idle(readyAt);
        if (isAborted()) throw new Fault("unreachable", "given up by the caller");
      },
      close: () => lines.delete(line),
    };
  };

  return {
    open,
    wakeAll,
    controls: {
      down: () => {
        isDown = true;
        isPaused = false;
        cut();
      },
      up: () => {
        isDown = false;
      },
      cut,
      pause: () => {
        isPaused = true;
      },
      resume,
      resumeWithoutStreams: () => {
        for (const line of lines) line.isDropped = true;
        resume();
      },
      failNext: (failure) => failures.push({ failure, left: failure.times ?? 1 }),
      corruptNext: () => {
        isCorrupting = true;
      },
      clearFailures: () => {
        failures = [];
        isCorrupting = false;
      },
      openWatches: () => [...lines].filter(({ isWatch }) => isWatch).length,
      requests,
    },
  };
}
