import { type Clock, Fault, type Log, toFault } from "@resource-broker/base";
import { wait } from "../backoff/backoff.ts";
import { failureReporter } from "../backoff/failure-reporter.ts";
import { idleTimeout } from "../backoff/idle-timeout.ts";
import type { KubeClient } from "../client/client.ts";
import { type LeaseResult, leaseCandidate } from "./lease-candidate.ts";
import { type Term, term } from "./term.ts";

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

export interface LeaderElectionDeps {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Log;
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

export function leaderElection(options: LeaderElectionOptions, deps: LeaderElectionDeps): LeaderElection {
  const { leaseMs = LEASE_MS, renewWithinMs = (leaseMs * 2) / 3, retryMs = RETRY_MS } = options;
  if (renewWithinMs >= leaseMs || retryMs >= renewWithinMs) {
    throw new Fault(
      "invalid",
      "a lease needs retryMs < renewWithinMs < leaseMs: others would take over too soon",
    );
  }
  const { clock, log, random } = deps;
  const lease = `${options.namespace}/${options.name}`;
  const stopping = new AbortController();
  const candidate = leaseCandidate({ ...options, durationMs: leaseMs }, deps);
  const reporter = failureReporter({
    log,
    clock,
    what: `holding the lease ${lease}`,
    fields: { lease },
  });
  let current: Term | undefined;
  let running: Promise<void> | undefined;

  const pause = (signal: AbortSignal) =>
    wait(Math.ceil(retryMs * (1 + RETRY_JITTER * random())), { clock, signal });

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
      await pause(mine.isOver);
      if (mine.isOver.aborted) return;
      const result = await attempt(candidate.tryAcquireOrRenew, mine.isOver);
      if (result?.isHeld === true) mine.renewed(result.heldSince);
      else if (result !== undefined) mine.lost(`${result.holder} holds the lease`);
    }
  };

  const lead = async ({ heldSince }: LeaseResult & { isHeld: true }): Promise<void> => {
    const isTooLate = clock.monotonicMs() >= heldSince + renewWithinMs;
    if (isTooLate || stopping.signal.aborted) return;
    current = term({ heldSince, renewWithinMs, lease }, { ...deps, ...options, stopping: stopping.signal });
    const work = current.begin();
    await renewUntilOver(current);
    await work;
    current = undefined;
    // Releases the lease so that others need not wait for its expiry.
    await attempt(candidate.release, new AbortController().signal);
  };

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const result = await attempt(candidate.tryAcquireOrRenew, stopping.signal);
      if (result?.isHeld === true) await lead(result);
      await pause(stopping.signal);
    }
  };

  return {
    start: () => {
      running ??= run();
    },
    stop: async () => {
      stopping.abort();
      await running;
    },
    isLeader: () => current?.isRunning() === true,
  };
}
