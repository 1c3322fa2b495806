import { type Clock, type Log, toFault } from "@resource-broker/base";
import type { Obstacle } from "./desired-virtual-node.ts";

export type JobKind = "peer" | "unpeer" | "force-unpeer";

/** Undefined: success, as far as liqoctl reports it. */
export type JobResult = Obstacle | undefined;

export interface Job {
  readonly kind: JobKind;
  readonly timeoutMs: number;
  readonly work: (signal: AbortSignal) => Promise<JobResult>;
}

/** The current or last job of one provider. */
export type JobState =
  | { readonly kind: "none" }
  | { readonly kind: "running"; readonly job: JobKind; readonly forMs: number }
  /** Success. The objects may not show the result yet. */
  | { readonly kind: "done"; readonly job: JobKind; readonly forMs: number }
  | {
      readonly kind: "failed";
      readonly job: JobKind;
      readonly obstacle: Obstacle;
      /** Number of failures in a row. */
      readonly times: number;
      readonly retryInMs: number;
    };

/** Runs liqoctl in the background: a run may take minutes, and each provider has at most one. */
export interface PeeringJobRunner {
  readonly state: (liqoId: string) => JobState;
  /** Does nothing while a job runs. */
  readonly start: (liqoId: string, job: Job) => void;
  readonly abort: (liqoId: string) => void;
  /** Drops the result of an ended job. */
  readonly forget: (liqoId: string) => void;
  readonly stop: () => Promise<void>;
}

interface Running {
  readonly kind: "running";
  readonly job: JobKind;
  readonly since: number;
  readonly ending: AbortController;
  readonly over: Promise<void>;
  readonly times: number;
}

type Entry =
  | Running
  | { readonly kind: "done"; readonly job: JobKind; readonly since: number }
  | {
      readonly kind: "failed";
      readonly job: JobKind;
      readonly since: number;
      readonly obstacle: Obstacle;
      readonly times: number;
    };

const MIN_BACKOFF_MS = 30_000;
const MAX_BACKOFF_MS = 300_000;

export interface PeeringJobRunnerDeps {
  readonly clock: Clock;
  readonly log: Log;
}

export function peeringJobRunner({ clock, log }: PeeringJobRunnerDeps): PeeringJobRunner {
  const entries = new Map<string, Entry>();

  const begin = (liqoId: string, job: Job, times: number): void => {
    const ending = new AbortController();
    const over = runWithTimeout(job, { ending, clock }).then((obstacle) => {
      const since = clock.monotonicMs();
      const { kind } = job;
      if (obstacle === undefined) entries.set(liqoId, { kind: "done", job: kind, since });
      else entries.set(liqoId, { kind: "failed", job: kind, since, obstacle, times: times + 1 });
      const line = { liqoId, job: kind, ...obstacle };
      if (obstacle === undefined) log.info(line, "liqoctl has ended");
      else log.warn(line, "liqoctl has failed");
    });
    const since = clock.monotonicMs();
    log.info({ liqoId, job: job.kind }, "liqoctl has started");
    entries.set(liqoId, { kind: "running", job: job.kind, since, ending, over, times });
  };

  return {
    state: (liqoId) => stateOf(entries.get(liqoId), clock.monotonicMs()),
    start: (liqoId, job) => {
      const before = entries.get(liqoId);
      if (before?.kind === "running") return;
      const isAgain = before?.kind === "failed" && before.job === job.kind;
      begin(liqoId, job, isAgain ? before.times : 0);
    },
    abort: (liqoId) => {
      const entry = entries.get(liqoId);
      if (entry?.kind === "running") entry.ending.abort();
    },
    forget: (liqoId) => {
      if (entries.get(liqoId)?.kind !== "running") entries.delete(liqoId);
    },
    stop: async () => {
      const running = [...entries.values()].filter((entry) => entry.kind === "running");
      for (const { ending } of running) ending.abort();
      await Promise.all(running.map(({ over }) => over));
    },
  };
}

/** The job's state. After a failure with a kubeconfig that was replaced, there is no backoff. */
export async function currentJob(
  { jobs, jobFactory }: CurrentJobDeps,
  { liqoId, clusterId }: { readonly liqoId: string; readonly clusterId: string },
): Promise<JobState> {
  const job = jobs.state(liqoId);
  if (job.kind !== "failed" || job.retryInMs === 0) return job;
  return (await jobFactory.hasNewKubeconfig(clusterId)) ? { ...job, retryInMs: 0 } : job;
}

export interface CurrentJobDeps {
  readonly jobs: PeeringJobRunner;
  readonly jobFactory: { readonly hasNewKubeconfig: (clusterId: string) => Promise<boolean> };
}

function stateOf(entry: Entry | undefined, now: number): JobState {
  if (entry === undefined) return { kind: "none" };
  const forMs = now - entry.since;
  if (entry.kind !== "failed") return { kind: entry.kind, job: entry.job, forMs };
  const { job, obstacle, times } = entry;
  const pauseMs = Math.min(MIN_BACKOFF_MS * 2 ** Math.min(times - 1, 10), MAX_BACKOFF_MS);
  return { kind: "failed", job, obstacle, times, retryInMs: Math.max(0, pauseMs - forMs) };
}

/** Does not wait for a process that survives SIGKILL. */
async function runWithTimeout(
  { work, timeoutMs, kind }: Job,
  { ending, clock }: { readonly ending: AbortController; readonly clock: Clock },
): Promise<JobResult> {
  const { signal } = ending;
  let cancel = (): void => undefined;
  const tooLong = new Promise<JobResult>((resolve) => {
    cancel = clock.after(timeoutMs, () => {
      resolve({
        reason: "LiqoctlTimedOut",
        message: `liqoctl ${kind} did not end within ${timeoutMs / 1000} s`,
      });
      ending.abort();
    });
    signal.addEventListener("abort", () =>
      resolve({
        reason: "Aborted",
        message: `liqoctl ${kind} was stopped, because it is not needed any more`,
      }),
    );
  });
  try {
    return await Promise.race([work(signal).catch(unexpected), tooLong]);
  } finally {
    cancel();
  }
}

function unexpected(error: unknown): JobResult {
  return { reason: "PeeringFailed", message: toFault(error).message };
}
