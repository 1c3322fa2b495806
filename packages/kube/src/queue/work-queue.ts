import type { Clock, Log } from "@resource-broker/base";
import { jitteredDelay } from "../backoff/backoff.ts";

/** First in, first out, each key once. A Set alone is slow: deleted entries at its front are skipped on every iteration. */
interface Fifo {
  readonly add: (key: string) => void;
  readonly take: () => string | undefined;
  readonly size: () => number;
}

const COMPACT_AT = 1024;

export function fifo(): Fifo {
  let keys: string[] = [];
  let taken = 0;
  const waiting = new Set<string>();
  return {
    add: (key) => {
      if (waiting.has(key)) return;
      waiting.add(key);
      keys.push(key);
    },
    take: () => {
      const key = keys[taken];
      if (key === undefined) return undefined;
      taken++;
      waiting.delete(key);
      if (taken >= COMPACT_AT && 2 * taken >= keys.length) {
        keys = keys.slice(taken);
        taken = 0;
      }
      return key;
    },
    size: () => waiting.size,
  };
}

export type WorkResult =
  | { readonly kind: "done" }
  /** Requeue after this time; not an error. */
  | { readonly kind: "later"; readonly afterMs: number }
  /** It failed and is retried with exponential backoff up to `maxMs`, not before `minMs`. */
  | { readonly kind: "retry"; readonly maxMs?: number; readonly minMs?: number };

export interface WorkQueueOptions {
  /** How many keys are worked on at once. Absent: 1. */
  readonly concurrency?: number;
  /** Absent: 30 s. */
  readonly maxBackoffMs?: number;
  readonly work: (key: string) => Promise<WorkResult>;
}

export interface WorkQueueDeps {
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Log;
  readonly observer?: WorkQueueObserver;
}

export interface WorkQueueObserver {
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
  /** How many times in a row the work on a key has failed. */
  readonly failures: (key: string) => number;
  /** Accepts no more keys, drops delayed ones, and resolves when the queued keys are processed. */
  readonly stop: () => Promise<void>;
}

const MIN_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 30_000;

export function workQueue(options: WorkQueueOptions, deps: WorkQueueDeps): WorkQueue {
  const { concurrency = 1, maxBackoffMs = MAX_BACKOFF_MS, work } = options;
  const { clock, random, log, observer } = deps;
  const waiting = fifo();
  const delayed = new Map<string, { readonly at: number; readonly cancel: () => void }>();
  const running = new Set<string>();
  /** Added while it was worked on. */
  const dirty = new Set<string>();
  const failures = new Map<string, number>();
  const drained: (() => void)[] = [];
  let isStopping = false;

  const enqueue = (key: string): void => {
    if (running.has(key)) dirty.add(key);
    else waiting.add(key);
  };
  const addAfter = (key: string, delayMs: number): void => {
    if (isStopping) return;
    if (delayMs <= 0) {
      enqueue(key);
      dispatch();
      return;
    }
    const at = clock.monotonicMs() + delayMs;
    const planned = delayed.get(key);
    if (planned !== undefined && planned.at <= at) return;
    planned?.cancel();
    delayed.set(key, { at, cancel: clock.after(Math.ceil(delayMs), () => onDue(key)) });
  };
  const onDue = (key: string): void => {
    delayed.delete(key);
    enqueue(key);
    dispatch();
  };
  const dispatch = (): void => {
    while (running.size < concurrency) {
      const key = waiting.take();
      if (key === undefined) break;
      void run(key);
    }
    if (isStopping && running.size === 0) for (const resolve of drained.splice(0)) resolve();
  };
  const run = async (key: string): Promise<void> => {
    running.add(key);
    const result = await process(key);
    running.delete(key);
    if (result.kind !== "retry") failures.delete(key);
    if (result.kind === "retry") retry(key, result);
    else if (result.kind === "later") addAfter(key, Math.max(1, result.afterMs));
    if (dirty.delete(key)) enqueue(key);
    dispatch();
  };
  const process = async (key: string): Promise<WorkResult> => {
    try {
      return await work(key);
    } catch (error) {
      log.error({ key, error: String(error) }, `processing ${key} threw an unexpected error; this is a bug`);
      return { kind: "retry" };
    }
  };
  const retry = (key: string, { maxMs = maxBackoffMs, minMs = 0 }: WorkResult & { kind: "retry" }): void => {
    const before = failures.get(key) ?? 0;
    failures.set(key, before + 1);
    observer?.onRetry?.(key);
    const pauseMs = jitteredDelay({ failures: before, minMs: MIN_BACKOFF_MS, maxMs }, random);
    addAfter(key, Math.max(1, pauseMs, minMs));
  };

  return {
    add: (key) => addAfter(key, 0),
    addAfter,
    failures: (key) => failures.get(key) ?? 0,
    stop: async () => {
      isStopping = true;
      for (const { cancel } of delayed.values()) cancel();
      delayed.clear();
      await new Promise<void>((resolve) => {
        drained.push(resolve);
        dispatch();
      });
    },
  };
}
