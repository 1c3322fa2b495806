import { Fault } from "@resource-broker/contract";
import type { Log, MachineTime } from "@resource-broker/runtime";
import { toFault, trouble } from "../backoff/trouble.ts";
import { wait } from "../backoff/wait.ts";
import type { KubeClient } from "../client/client.ts";
import { guard } from "../follow/guard.ts";
import { candidate, type Holding } from "./candidate.ts";
import { type Term, term } from "./term.ts";

export interface LeaderElectionOptions {
  readonly name: string;
  readonly namespace: string;
  /** Must be another one for each process: two of the same identity would both lead. */
  readonly identity: string;
  /** So long others wait for a holder that is silent. Absent: 15 s. */
  readonly leaseMs?: number;
  /** A leader that could not renew for so long leads no more. Absent: two thirds of `leaseMs`. */
  readonly renewWithinMs?: number;
  /** Between two tries to take or to renew. Absent: 2 s. */
  readonly retryMs?: number;
  /** Leads until the signal is given, and must end then: only afterwards is the lease left to others. */
  readonly onLead: (signal: AbortSignal) => void | Promise<void>;
  /** Called once for each `onLead`, in the moment in which leading ends. */
  readonly onLose?: () => void;
}

export interface LeaderElectionDeps {
  readonly client: KubeClient;
  readonly machine: MachineTime;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Log;
}

/**
 * One leader at a time, by a Lease. No machine's clock is compared with another's: a leader counts from before it
 * sent its last renewal, the others from after they saw it, each by its own monotonic clock. So two never lead
 * unless one clock runs faster than the other by as much as `leaseMs` is longer than `renewWithinMs`.
 */
export interface LeaderElection {
  readonly start: () => void;
  /** Leads no more, leaves the lease to others, and resolves when nothing runs. */
  readonly stop: () => Promise<void>;
  /** Asks the clock: true only while no other can lead. */
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
  const { machine, log, random } = deps;
  const lease = `${options.namespace}/${options.name}`;
  const stopping = new AbortController();
  const self = candidate({ ...options, durationMs: leaseMs }, deps);
  const troubles = trouble({ log, machine, what: `holding the lease ${lease}`, fields: { lease } });
  let current: Term | undefined;
  let running: Promise<void> | undefined;

  const pause = (signal: AbortSignal) =>
    wait(Math.ceil(retryMs * (1 + RETRY_JITTER * random())), { machine, signal });

  /** One try; a request that hangs leaves time for another one before the term is over. */
  const attempt = async <R>(
    run: (signal: AbortSignal) => Promise<R>,
    signal: AbortSignal,
  ): Promise<R | undefined> => {
    const watched = guard({
      what: `a call about the lease ${lease}`,
      limitMs: renewWithinMs / 2,
      signal,
      machine,
    });
    try {
      const result = await watched.run(() => run(watched.signal));
      troubles.ends();
      return result;
    } catch (error) {
      if (!signal.aborted) troubles.begins(toFault(error));
      return undefined;
    }
  };

  const keep = async (mine: Term): Promise<void> => {
    for (;;) {
      await pause(mine.isOver);
      if (mine.isOver.aborted) return;
      const holding = await attempt(self.hold, mine.isOver);
      if (holding?.isMine === true) mine.renewed(holding.heldSince);
      else if (holding !== undefined) mine.lost(`${holding.holder} holds the lease`);
    }
  };

  const lead = async ({ heldSince }: Holding & { isMine: true }): Promise<void> => {
    const isTooLate = machine.monotonicMs() >= heldSince + renewWithinMs;
    if (isTooLate || stopping.signal.aborted) return;
    current = term({ heldSince, renewWithinMs, lease }, { ...deps, ...options, stopping: stopping.signal });
    const work = current.begin();
    await keep(current);
    await work;
    current = undefined;
    // Others need not wait, whether it was stopped, its work failed, or the server came back too late.
    await attempt(self.release, new AbortController().signal);
  };

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const holding = await attempt(self.hold, stopping.signal);
      if (holding?.isMine === true) await lead(holding);
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
