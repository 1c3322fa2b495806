import type { Log, MachineTime } from "@resource-broker/runtime";
import { pauseAfter } from "../backoff/backoff.ts";
import { delays } from "./delays.ts";
import { fifo } from "./fifo.ts";

/** How the work on a key ended. */
export type WorkEnd =
  | { readonly kind: "done" }
  /** Requeue after this time; not an error. */
  | { readonly kind: "later"; readonly afterMs: number }
  /** It failed and is retried with exponential backoff up to `maxMs`, not before `minMs`. */
  | { readonly kind: "retry"; readonly maxMs?: number; readonly leastMs?: number };

export interface WorkQueueOptions {
  /** How many keys are worked on at once. Absent: 1. */
  readonly concurrency?: number;
  /** The first bound of the pauses between tries. Absent: 100 ms. */
  readonly minBackoffMs?: number;
  /** Absent: 30 s. */
  readonly maxBackoffMs?: number;
  readonly work: (key: string) => Promise<WorkEnd>;
}

export interface WorkQueueDeps {
  readonly machine: MachineTime;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Log;
  readonly observer?: WorkQueueObserver;
}

export interface WorkQueueObserver {
  /** How many keys wait for their turn. */
  readonly onDepth?: (depth: number) => void;
  readonly onRetry?: (key: string) => void;
}

/**
 * A work queue of keys. A key is never processed twice at the same time; a queued key is not added again; a key that is added
 * while it is processed is queued again afterwards.
 */
export interface WorkQueue {
  readonly add: (key: string) => void;
  /** Of several delays for one key, the earliest wins. */
  readonly addAfter: (key: string, delayMs: number) => void;
  /** How many keys wait for their turn; delayed ones are not counted. */
  readonly depth: () => number;
  /** How many times in a row the work on a key has failed. */
  readonly failures: (key: string) => number;
  /** Accepts no more keys, drops delayed ones, and resolves when the queued keys are processed. */
  readonly stop: () => Promise<void>;
}

const MIN_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 30_000;

export function workQueue(options: WorkQueueOptions, deps: WorkQueueDeps): WorkQueue {
  const { concurrency = 1, minBackoffMs = MIN_BACKOFF_MS, maxBackoffMs = MAX_BACKOFF_MS, work } = options;
  const { machine, random, log, observer } = deps;
  const waiting = fifo();
  const delayed = delays();
  const running = new Set<string>();
  /** Added while it was worked on. */
  const again = new Set<string>();
  const failures = new Map<string, number>();
  const drained: (() => void)[] = [];
  let timer: { readonly at: number; readonly cancel: () => void } | undefined;
  let isStopping = false;

  const tellDepth = () => observer?.onDepth?.(waiting.size());
  const enqueue = (key: string): void => {
    if (running.has(key)) again.add(key);
    else if (waiting.add(key)) tellDepth();
  };
  const addAfter = (key: string, delayMs: number): void => {
    if (isStopping) return;
    if (delayMs <= 0) {
      enqueue(key);
      fill();
      return;
    }
    delayed.set(key, machine.monotonicMs() + delayMs);
    arm();
  };
  const arm = (): void => {
    const at = delayed.earliest()?.at;
    if (at === timer?.at) return;
    timer?.cancel();
    timer = undefined;
    if (at === undefined) return;
    timer = { at, cancel: machine.after(Math.max(0, Math.ceil(at - machine.monotonicMs())), ring) };
  };
  const ring = (): void => {
    timer = undefined;
    const now = machine.monotonicMs();
    for (let due = delayed.earliest(); due !== undefined && due.at <= now; due = delayed.earliest()) {
      delayed.take();
      enqueue(due.key);
    }
    arm();
    fill();
  };
  const fill = (): void => {
    while (running.size < concurrency) {
      const key = waiting.take();
      if (key === undefined) break;
      tellDepth();
      void run(key);
    }
    if (isStopping && running.size === 0) for (const tell of drained.splice(0)) tell();
  };
  const run = async (key: string): Promise<void> => {
    running.add(key);
    const end = await workOn(key);
    running.delete(key);
    if (end.kind !== "retry") failures.delete(key);
    if (end.kind === "retry") retry(key, end);
    else if (end.kind === "later") addAfter(key, Math.max(1, end.afterMs));
    if (again.delete(key)) enqueue(key);
    fill();
  };
  const workOn = async (key: string): Promise<WorkEnd> => {
    try {
      return await work(key);
    } catch (error) {
      log.error({ key, error: String(error) }, `processing ${key} threw an unexpected error; this is a bug`);
      return { kind: "retry" };
    }
  };
  const retry = (key: string, { maxMs = maxBackoffMs, leastMs = 0 }: WorkEnd & { kind: "retry" }): void => {
    const before = failures.get(key) ?? 0;
    failures.set(key, before + 1);
    observer?.onRetry?.(key);
    const pauseMs = pauseAfter({ failures: before, minMs: minBackoffMs, maxMs }, random);
    addAfter(key, Math.max(1, pauseMs, leastMs));
  };

  return {
    add: (key) => addAfter(key, 0),
    addAfter,
    depth: waiting.size,
    failures: (key) => failures.get(key) ?? 0,
    stop: async () => {
      isStopping = true;
      delayed.clear();
      arm();
      await new Promise<void>((resolve) => {
        drained.push(resolve);
        fill();
      });
    },
  };
}
