import { Fault, type FaultCode } from "@resource-broker/contract";
import { backoff, failureReporter, toFault } from "@resource-broker/kube";
import type { Clock, Log } from "@resource-broker/runtime";

export interface PaceOptions {
  /** On average. */
  readonly perSecond: number;
  /** Burst after an idle time: at most `perSecond + burst` writes per second. */
  readonly burst: number;
}

export interface PaceDeps {
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Log;
}

/** Limits the rate of writes and keeps their order. */
export interface Pace {
  readonly lane: (what: string) => Lane;
  /** From now on every write that waits or comes is refused. */
  readonly close: () => void;
}

/** The writes of one kind. A failure of this kind, such as a missing CRD, does not delay the others. */
export interface Lane {
  /** Rejects with what the write rejects with. */
  readonly run: <T>(write: () => Promise<T>) => Promise<T>;
  /** True while something waits for its turn. */
  readonly isBusy: () => boolean;
}

/**
 * Faults that affect all objects: the server is unreachable or overloaded, access is denied, or namespace or CRD are missing.
 * Then all writes wait, and one write at a time probes whether it works again.
 */
const OF_THE_PLACE: readonly FaultCode[] = [
  "unreachable",
  "overloaded",
  "rate-limited",
  "unauthenticated",
  "forbidden",
  "method-not-allowed",
  "not-found",
];
const MAX_PAUSE_MS = 10_000;

export function isOfThePlace(fault: Fault): boolean {
  return OF_THE_PLACE.includes(fault.code);
}

export function pace({ perSecond, burst }: PaceOptions, deps: PaceDeps): Pace {
  const { clock } = deps;
  const bucket = { tokens: burst, at: clock.monotonicMs() };
  const lanes: PacedLane[] = [];
  let next = 0;
  let isClosed = false;
  let cancel = (): void => undefined;

  const refill = (): void => {
    const now = clock.monotonicMs();
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) * perSecond) / 1000);
    bucket.at = now;
  };
  /** Round robin over the queues, so that a long queue does not block a short one. */
  const readyLane = (): PacedLane | undefined => {
    const now = clock.monotonicMs();
    for (let step = 0; step < lanes.length; step++) {
      const lane = lanes[(next + step) % lanes.length];
      if (lane === undefined || lane.readyAt(now) > now) continue;
      next = (next + step + 1) % lanes.length;
      return lane;
    }
    return undefined;
  };
  const pump = (): void => {
    refill();
    while (bucket.tokens >= 1) {
      const lane = readyLane();
      if (lane === undefined) break;
      bucket.tokens--;
      lane.passOne();
    }
    cancel();
    const now = clock.monotonicMs();
    const readyAt = Math.min(...lanes.map((lane) => lane.readyAt(now)));
    if (!Number.isFinite(readyAt)) return;
    const tokenAt = now + (Math.max(0, 1 - bucket.tokens) * 1000) / perSecond;
    cancel = clock.after(Math.max(1, Math.ceil(Math.max(readyAt, tokenAt) - now)), pump);
  };

  return {
    lane: (what) => {
      const lane = pacedLane(what, { ...deps, pump, isClosed: () => isClosed });
      lanes.push(lane);
      return { run: lane.run, isBusy: lane.isBusy };
    },
    close: () => {
      isClosed = true;
      cancel();
      for (const lane of lanes) lane.refuseAll();
    },
  };
}

interface PacedLane extends Lane {
  /** Infinity: nothing waits, or what runs has to end first. */
  readonly readyAt: (now: number) => number;
  readonly passOne: () => void;
  readonly refuseAll: () => void;
}

interface LaneDeps extends PaceDeps {
  readonly pump: () => void;
  readonly isClosed: () => boolean;
}

interface Waiting {
  readonly pass: () => void;
  readonly refuse: (fault: Fault) => void;
}

function pacedLane(what: string, deps: LaneDeps): PacedLane {
  const { clock, random, log, pump, isClosed } = deps;
  const waiting = new Set<Waiting>();
  const pauses = backoff({ maxMs: MAX_PAUSE_MS }, { random, monotonicMs: clock.monotonicMs });
  const troubles = failureReporter({ log, clock, fields: {}, what });
  let running = 0;
  let pausedUntil = 0;

  const takeTurn = async (): Promise<void> => {
    if (isClosed()) throw closed(what);
    await new Promise<void>((resolve, reject) => {
      waiting.add({ pass: resolve, refuse: reject });
      pump();
    });
  };
  const failed = (fault: Fault): void => {
    if (!isOfThePlace(fault)) {
      worked();
      return;
    }
    troubles.failed(fault);
    const pauseMs = Math.max(pauses.failed(), fault.details.retryAfterMs ?? 0, 1);
    pausedUntil = clock.monotonicMs() + pauseMs;
  };
  const worked = (): void => {
    pauses.succeeded();
    troubles.recovered();
  };

  return {
    run: async (write) => {
      await takeTurn();
      running++;
      try {
        const written = await write();
        worked();
        return written;
      } catch (error) {
        failed(toFault(error));
        throw error;
      } finally {
        running--;
        pump();
      }
    },
    isBusy: () => waiting.size > 0,
    readyAt: (now) => {
      const isProbing = troubles.current() !== undefined && running > 0;
      return waiting.size === 0 || isProbing ? Number.POSITIVE_INFINITY : Math.max(now, pausedUntil);
    },
    passOne: () => {
      const [first] = waiting;
      if (first === undefined) return;
      waiting.delete(first);
      first.pass();
    },
    refuseAll: () => {
      for (const { refuse } of waiting) refuse(closed(what));
      waiting.clear();
    },
  };
}

function closed(what: string): Fault {
  return new Fault("overloaded", `${what} has ended`);
}
