import { type Clock, Fault, type Log, toFault } from "@resource-broker/base";
import { wait } from "../backoff/backoff.ts";
import { failureReporter } from "../backoff/failure-reporter.ts";
import { idleTimeout } from "../backoff/idle-timeout.ts";
import { loop } from "../backoff/loop.ts";
import type { KubeWorkerDeps } from "../client/client.ts";
import { leaseCandidate } from "./lease-candidate.ts";

export interface LeaderElectionOptions {
  readonly name: string;
  readonly namespace: string;
  /** Must be unique per process: two processes with one identity would both lead. */
  readonly identity: string;
  /** Lease duration: others wait this long without a renewal. Absent: 15 s. */
  readonly leaseMs?: number;
  /** Renew deadline: a leader that cannot renew for this long steps down. Absent: two thirds of `leaseMs`. */
  readonly renewWithinMs?: number;
  /** Retry period. Absent: 2 s. */
  readonly retryMs?: number;
  /** The leader's work. It must end when the signal is aborted; the lease is released only after that. */
  readonly onLead: (signal: AbortSignal) => void | Promise<void>;
  /** Called once when leadership ends. */
  readonly onLose?: () => void;
}

/**
 * Leader election with a Lease. Clocks of different machines are not compared: a leader counts from before it sent its last
 * renewal, the others from when they observed it, each with its own monotonic clock. Two processes lead at the same time only
 * if one clock runs faster than the other by the ratio of `leaseMs` to `renewWithinMs`.
 */
export interface LeaderElection {
  readonly start: () => void;
  /** Steps down, releases the lease, and resolves when nothing runs. */
  readonly stop: () => Promise<void>;
  /** True only while no other process can lead, by the local clock. */
  readonly isLeader: () => boolean;
}

const LEASE_MS = 15_000;
const RETRY_MS = 2_000;
const RETRY_JITTER = 0.2;

export function leaderElection(options: LeaderElectionOptions, deps: KubeWorkerDeps): LeaderElection {
  const { leaseMs = LEASE_MS, renewWithinMs = (leaseMs * 2) / 3, retryMs = RETRY_MS } = options;
  if (renewWithinMs >= leaseMs || retryMs >= renewWithinMs) {
    throw new Fault(
      "invalid",
      "a lease needs retryMs < renewWithinMs < leaseMs: others would take over too soon",
    );
  }
  const { clock, log, random } = deps;
  const lease = `${options.namespace}/${options.name}`;
  const candidate = leaseCandidate({ ...options, durationMs: leaseMs }, deps);
  const reporter = failureReporter({
    log,
    clock,
    what: `holding the lease ${lease}`,
    fields: { lease },
  });
  let current: Term | undefined;

  const pauseMs = (): number => Math.ceil(retryMs * (1 + RETRY_JITTER * random()));

  /** One attempt. Its timeout leaves time for a second attempt within the renew deadline. */
  const attempt = async <R>(
    run: (signal: AbortSignal) => Promise<R>,
    signal: AbortSignal,
  ): Promise<R | undefined> => {
    const watched = idleTimeout({
      what: `a call about the lease ${lease}`,
      limitMs: renewWithinMs / 2,
      signal,
      clock,
    });
    try {
      const result = await watched.run(() => run(watched.signal));
      reporter.recovered();
      return result;
    } catch (error) {
      if (!signal.aborted) reporter.failed(toFault(error));
      return undefined;
    }
  };

  const renewUntilOver = async (mine: Term): Promise<void> => {
    for (;;) {
      await wait(pauseMs(), { clock, signal: mine.isOver });
      if (mine.isOver.aborted) return;
      const result = await attempt(candidate.tryAcquireOrRenew, mine.isOver);
      if (result?.isHeld === true) mine.renewed(result.heldSince);
      else if (result !== undefined) mine.lost(`${result.holder} holds the lease`);
    }
  };

  const lead = async (heldSince: number, stopping: AbortSignal): Promise<void> => {
    const isTooLate = clock.monotonicMs() >= heldSince + renewWithinMs;
    if (isTooLate || stopping.aborted) return;
    current = term({ heldSince, renewWithinMs, lease }, { ...deps, ...options, stopping });
    const work = current.begin();
    await renewUntilOver(current);
    await work;
    current = undefined;
    // Releases the lease so that others need not wait for its expiry.
    await attempt(candidate.release, new AbortController().signal);
  };

  const terms = loop({
    clock,
    round: async (signal) => {
      const result = await attempt(candidate.tryAcquireOrRenew, signal);
      if (result?.isHeld === true) await lead(result.heldSince, signal);
      return pauseMs();
    },
  });

  return {
    start: terms.start,
    stop: terms.stop,
    isLeader: () => current?.isRunning() === true,
  };
}

interface TermOptions {
  /** Monotonic: from before the request that won it was sent. */
  readonly heldSince: number;
  readonly renewWithinMs: number;
  readonly lease: string;
}

interface TermDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly stopping: AbortSignal;
  readonly onLead: (signal: AbortSignal) => void | Promise<void>;
  readonly onLose?: () => void;
}

/** One leadership term, from its start to the end of its work. */
interface Term {
  /** Starts the work; resolves when the term and the work have ended. */
  readonly begin: () => Promise<void>;
  readonly renewed: (heldSince: number) => void;
  readonly lost: (why: string) => void;
  /** Aborted when renewals must stop: the lease is lost, or the work has ended after a stop. */
  readonly isOver: AbortSignal;
  /** Checked against the clock, so that a late timer does not matter. */
  readonly isRunning: () => boolean;
}

function term({ heldSince, renewWithinMs, lease }: TermOptions, deps: TermDeps): Term {
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
