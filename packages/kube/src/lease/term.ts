import { type Clock, type Log, toFault } from "@resource-broker/base";

export interface TermOptions {
  /** Monotonic: from before the request that won it was sent. */
  readonly heldSince: number;
  readonly renewWithinMs: number;
  readonly lease: string;
}

export interface TermDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly stopping: AbortSignal;
  readonly onLead: (signal: AbortSignal) => void | Promise<void>;
  readonly onLose?: () => void;
}

/** One leadership term, from its start to the end of its work. */
export interface Term {
  /** Starts the work; resolves when the term and the work have ended. */
  readonly begin: () => Promise<void>;
  readonly renewed: (heldSince: number) => void;
  readonly lost: (why: string) => void;
  /** Aborted when renewals must stop: the lease is lost, or the work has ended after a stop. */
  readonly isOver: AbortSignal;
  /** Checked against the clock, so that a late timer does not matter. */
  readonly isRunning: () => boolean;
}

export function term({ heldSince, renewWithinMs, lease }: TermOptions, deps: TermDeps): Term {
  const { clock, log, stopping } = deps;
  const leading = new AbortController();
  const over = new AbortController();
  let endsAt = heldSince + renewWithinMs;
  let cancel = () => {};

  const stepDown = (why: string): void => {
    if (leading.signal.aborted) return;
    leading.abort();
    log.info({ lease }, `lost leadership: ${why}`);
    try {
      deps.onLose?.();
    } catch (error) {
      log.error({ lease, error: String(error) }, "onLose failed; that is a bug");
    }
  };
  const lost = (why: string): void => {
    stepDown(why);
    over.abort();
  };
  const arm = (): void => {
    cancel();
    cancel = clock.after(Math.max(0, Math.floor(endsAt - clock.monotonicMs())), () =>
      lost(`the lease could not be renewed for ${renewWithinMs / 1000} s`),
    );
  };
  const work = async (): Promise<void> => {
    try {
      await deps.onLead(leading.signal);
    } catch (error) {
      log.error({ lease, error: toFault(error).message }, "the leader's work failed");
      stepDown("its work failed");
    }
  };

  return {
    begin: async () => {
      const onStop = () => stepDown("it is stopped");
      const ended = new Promise<void>((resolve) => {
        leading.signal.addEventListener("abort", () => resolve());
      });
      stopping.addEventListener("abort", onStop);
      arm();
      log.info({ lease }, "became leader");
      await work();
      await ended;
      stopping.removeEventListener("abort", onStop);
      cancel();
      over.abort();
    },
    renewed: (since) => {
      endsAt = since + renewWithinMs;
      if (!over.signal.aborted) arm();
    },
    lost,
    isOver: over.signal,
    isRunning: () => !leading.signal.aborted && clock.monotonicMs() < endsAt,
  };
}
