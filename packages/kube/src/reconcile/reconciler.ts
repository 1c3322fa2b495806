import { type Fault, type Log, toFault } from "@resource-broker/base";
import { type WorkQueueDeps, type WorkResult, workQueue } from "../queue/work-queue.ts";

/** Logs each failure of a key once, and its recovery once. */
interface FailureLog {
  readonly failed: (key: string, fault: Fault, timesInRow: number) => void;
  readonly succeeded: (key: string) => void;
}

/** Retryable failures are logged after this many attempts. */
const LOG_AFTER_FAILURES = 5;

/** When to reconcile again without an event. Absent: only on events. */
export interface ReconcileResult {
  readonly requeueAfterMs?: number;
}

export interface ReconcileLoopOptions {
  /** What is reconciled, for people: "resource requests". */
  readonly name: string;
  /** How many keys at once. Absent: 1. */
  readonly concurrency?: number;
  /** Reconciles one key; level-based and idempotent. Errors are retried. */
  readonly reconcile: (key: string) => Promise<ReconcileResult>;
  /** Periodic resync of all keys, for changes without an event. */
  readonly resync?: { readonly everyMs: number; readonly keys: () => Iterable<string> };
}

/** A reconciler with its work queue. */
export interface Reconciler {
  /** Something about this key may have changed. */
  readonly enqueue: (key: string) => void;
  readonly enqueueAfter: (key: string, delayMs: number) => void;
  /** Rounds that are due are finished; later ones are dropped. */
  readonly stop: () => Promise<void>;
}

/** Maximum backoff of retryable faults. */
const MAX_RETRY_MS = 30_000;
/** Maximum backoff of faults that need an intervention. */
const MAX_PERMANENT_RETRY_MS = 300_000;
/** Spreads the resyncs of several reconcilers. */
const RESYNC_JITTER = 0.2;

export function reconcileLoop(options: ReconcileLoopOptions, deps: WorkQueueDeps): Reconciler {
  const { clock, random } = deps;
  const failures = failureLog(options.name, deps.log);

  const work = async (key: string): Promise<WorkResult> => {
    try {
      const { requeueAfterMs } = await options.reconcile(key);
      failures.succeeded(key);
      return requeueAfterMs === undefined ? { kind: "done" } : { kind: "later", afterMs: requeueAfterMs };
    } catch (error) {
      const fault = toFault(error);
      failures.failed(key, fault, queue.failures(key) + 1);
      return retryOf(fault);
    }
  };
  const queue = workQueue({ ...options, work }, deps);

  let cancelResync = () => {};
  const planResync = ({ everyMs, keys }: NonNullable<typeof options.resync>): void => {
    const delayMs = everyMs * (1 - RESYNC_JITTER * random());
    cancelResync = clock.after(delayMs, () => {
      for (const key of keys()) queue.add(key);
      planResync({ everyMs, keys });
    });
  };
  if (options.resync !== undefined) planResync(options.resync);

  return {
    enqueue: queue.add,
    enqueueAfter: queue.addAfter,
    stop: async () => {
      cancelResync();
      await queue.stop();
    },
  };
}

function retryOf({ retry, details }: Fault): WorkResult {
  const maxMs = retry ? MAX_RETRY_MS : MAX_PERMANENT_RETRY_MS;
  return { kind: "retry", maxMs, minMs: Math.min(details.retryAfterMs ?? 0, maxMs) };
}

function failureLog(name: string, log: Log): FailureLog {
  const logged = new Map<string, string>();
  return {
    failed: (key, fault, timesInRow) => {
      if (fault.retry && timesInRow < LOG_AFTER_FAILURES) return;
      if (logged.get(key) === fault.message) return;
      logged.set(key, fault.message);
      const fields = { key, code: fault.code, error: fault.message };
      const line = `reconciling ${name} ${key} fails: ${fault.message}`;
      if (fault.retry) log.warn(fields, line);
      else log.error(fault.code === "internal" ? { ...fields, stack: stackOf(fault) } : fields, line);
    },
    succeeded: (key) => {
      if (logged.delete(key)) log.info({ key }, `reconciling ${name} ${key} works again`);
    },
  };
}

function stackOf({ cause, stack }: Fault): string | undefined {
  return cause instanceof Error ? cause.stack : stack;
}
