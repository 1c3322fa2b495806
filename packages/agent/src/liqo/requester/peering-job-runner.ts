import { type Clock, type Log, toFault } from "@resource-broker/base";
import type { Obstacle } from "./steps.ts";

export type JobKind = "peer" | "unpeer" | "force-unpeer";

/** Undefined: success, as far as the job can tell. */
export type JobResult = Obstacle | undefined;

export interface Job {
  readonly kind: JobKind;
  readonly timeoutMs: number;
  readonly work: (signal: AbortSignal) => Promise<JobResult>;
}

/** The current or last job of one provider. */
export type JobState =
  | { readonly kind: "none" }
  /** `done` is success. The objects may not show the result yet. */
  | { readonly kind: "running" | "done"; readonly job: JobKind; readonly forMs: number }
  | {
      readonly kind: "failed";
      readonly job: JobKind;
      readonly obstacle: Obstacle;
      /** Number of failures in a row. */
      readonly times: number;
      readonly retryInMs: number;
    };

/** Runs liqoctl, or the exchange of statements, in the background: a run may take minutes, and each provider has at most one. */
export interface PeeringJobRunner {
  readonly state: (liqoId: string) => JobState;
  /** Does nothing while a job runs. */
  readonly start: (liqoId: string, job: Job) => void;
  readonly abort: (liqoId: string) => void;
  /** Drops the result of an ended job. */
  readonly forget: (liqoId: string) => void;
  readonly stop: () => Promise<void>;
}

interface Entry {
  readonly job: JobKind;
  readonly since: number;
  /** Failures in a row before this job, or with it once it has failed. */
  readonly times: number;
  /** Absent: the job has ended. */
  readonly running?: { readonly ending: AbortController; readonly over: Promise<void> };
  readonly obstacle?: Obstacle;
}

const MIN_BACKOFF_MS = 30_000;
const MAX_BACKOFF_MS = 300_000;

export interface PeeringJobRunnerDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** What its jobs are, for people. Absent: liqoctl. */
  readonly what?: "liqoctl" | "relay peering";
}

export function peeringJobRunner({ clock, log, what = "liqoctl" }: PeeringJobRunnerDeps): PeeringJobRunner {
  const entries = new Map<string, Entry>();

  const begin = (liqoId: string, job: Job, times: number): void => {
    const ending = new AbortController();
    const begun = { job: job.kind, since: clock.monotonicMs(), times };
    const over = runWithTimeout(job, { ending, clock, what }).then((obstacle) => {
      const ended = { job: job.kind, since: clock.monotonicMs() };
      const line = { liqoId, job: job.kind, ...obstacle };
      if (obstacle === undefined) {
        entries.set(liqoId, { ...ended, times: 0 });
        log.info(line, `${what} has ended`);
      } else {
        entries.set(liqoId, { ...ended, times: times + 1, obstacle });
        log.warn(line, `${what} has failed`);
      }
    });
    log.info({ liqoId, job: job.kind }, `${what} has started`);
    entries.set(liqoId, { ...begun, running: { ending, over } });
  };

  return {
    state: (liqoId) => stateOf(entries.get(liqoId), clock.monotonicMs()),
    start: (liqoId, job) => {
      const before = entries.get(liqoId);
      if (before?.running !== undefined) return;
      begin(liqoId, job, before?.job === job.kind ? before.times : 0);
    },
    abort: (liqoId) => entries.get(liqoId)?.running?.ending.abort(),
    forget: (liqoId) => {
      if (entries.get(liqoId)?.running === undefined) entries.delete(liqoId);
    },
    stop: async () => {
      const running = [...entries.values()].flatMap((entry) => entry.running ?? []);
      for (const { ending } of running) ending.abort();
      await Promise.all(running.map(({ over }) => over));
    },
  };
}

function stateOf(entry: Entry | undefined, now: number): JobState {
  if (entry === undefined) return { kind: "none" };
  const { job, since, times, running, obstacle } = entry;
  const forMs = now - since;
  if (obstacle === undefined) return { kind: running === undefined ? "done" : "running", job, forMs };
  const pauseMs = Math.min(MIN_BACKOFF_MS * 2 ** Math.min(times - 1, 10), MAX_BACKOFF_MS);
  return { kind: "failed", job, obstacle, times, retryInMs: Math.max(0, pauseMs - forMs) };
}

/** Does not wait for a process that survives SIGKILL. */
async function runWithTimeout(
  { work, timeoutMs, kind }: Job,
  { ending, clock, what }: { readonly ending: AbortController; readonly clock: Clock; readonly what: string },
): Promise<JobResult> {
  const { signal } = ending;
  let cancel = (): void => undefined;
  const tooLong = new Promise<JobResult>((resolve) => {
    cancel = clock.after(timeoutMs, () => {
      const message = `${what} (${kind}) did not end within ${timeoutMs / 1000} s`;
      resolve({ reason: what === "liqoctl" ? "LiqoctlTimedOut" : "PeeringTimedOut", message });
      ending.abort();
    });
    const message = `${what} (${kind}) was stopped, because it is not needed any more`;
    signal.addEventListener("abort", () => resolve({ reason: "Aborted", message }));
  });
  const failed = (error: unknown): JobResult => ({
    reason: "PeeringFailed",
    message: toFault(error).message,
  });
  try {
    return await Promise.race([work(signal).catch(failed), tooLong]);
  } finally {
    cancel();
  }
}
