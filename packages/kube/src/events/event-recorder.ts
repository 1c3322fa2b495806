import { type Clock, Fault, type FaultCode, toFault } from "@resource-broker/base";
import { failureReporter } from "../backoff/failure-reporter.ts";
import { idleTimeout } from "../backoff/idle-timeout.ts";
import type { KubeWorkerDeps } from "../client/client.ts";
import { type WorkResult, workQueue } from "../queue/work-queue.ts";
import { EVENTS } from "../resource/resources.ts";
import { eventBody, type EventInput, eventName, eventNamespace, eventTime } from "./event-body.ts";

interface KnownEvent {
  readonly input: EventInput;
  /** Undefined: no try to write it yet. */
  name: string | undefined;
  /** Count in the API server; 0: not written yet. */
  writtenCount: number;
  /** Occurrences since the last write. */
  unwritten: number;
  /** Wall clock, for people. */
  lastWallMs: number;
  /** Monotonic. */
  lastSeenMs: number;
}

/** Cache of recent events with a fixed capacity. */
interface KnownEvents {
  /** Adds an occurrence and returns the key to write it with; undefined: the cache is full. */
  readonly add: (event: EventInput) => string | undefined;
  readonly get: (key: string) => KnownEvent | undefined;
  readonly forget: (key: string) => void;
}

/** After this time the same event is recorded as a new one. */
const SAME_WITHIN_MS = 600_000;

function knownEvents(capacity: number, clock: Clock): KnownEvents {
  // Ordered by last occurrence: the first entry is evicted first.
  const events = new Map<string, KnownEvent>();

  const makeRoom = (): boolean => {
    if (events.size < capacity) return true;
    for (const [key, { unwritten }] of events) {
      if (unwritten > 0) continue;
      events.delete(key);
      return true;
    }
    return false;
  };
  const recent = (key: string, now: number): KnownEvent | undefined => {
    const event = events.get(key);
    if (event === undefined || event.unwritten > 0) return event;
    if (now - event.lastSeenMs < SAME_WITHIN_MS) return event;
    events.delete(key);
    return undefined;
  };

  return {
    add: (input) => {
      const key = keyOf(input);
      const lastSeenMs = clock.monotonicMs();
      const known = recent(key, lastSeenMs);
      if (known === undefined && !makeRoom()) return undefined;
      const event = known ?? {
        input,
        name: undefined,
        writtenCount: 0,
        unwritten: 0,
        lastWallMs: 0,
        lastSeenMs,
      };
      event.unwritten++;
      event.lastWallMs = clock.wallMs();
      event.lastSeenMs = lastSeenMs;
      events.delete(key);
      events.set(key, event);
      return key;
    },
    get: (key) => events.get(key),
    forget: (key) => events.delete(key),
  };
}

function keyOf({ regarding, type, reason, message }: EventInput): string {
  const { apiVersion, kind, namespace, name, uid, fieldPath } = regarding;
  return JSON.stringify([apiVersion, kind, namespace, name, uid, fieldPath, type, reason, message]);
}

export interface EventRecorderOptions {
  readonly component: string;
  /** Reporting instance: the pod. */
  readonly instance: string;
  /** Maximum number of distinct events kept, including those not yet written. Absent: 1,000. */
  readonly capacity?: number;
}

/** Records events, as shown by `kubectl describe`. */
export interface EventRecorder {
  /** Returns at once and never throws. */
  readonly record: (event: EventInput) => void;
  /** Writes pending events unless the server is unreachable; resolves when nothing runs. */
  readonly stop: () => Promise<void>;
}

const CAPACITY = 1_000;
const MAX_TRIES = 8;
const WRITE_MS = 10_000;

/** Records core/v1 Events. The same event within 10 minutes increments `count` instead of creating a new object. */
export function eventRecorder(options: EventRecorderOptions, deps: KubeWorkerDeps): EventRecorder {
  const { client, clock, random, log } = deps;
  const { component, instance } = options;
  const known = knownEvents(options.capacity ?? CAPACITY, clock);
  const reporter = failureReporter({ log, clock, what: "writing events", fields: { component } });
  const neverAborted = new AbortController().signal;
  let isDropping = false;
  let isStopping = false;
  /** Set when a write fails during stop: the remaining events are dropped. */
  let isGivingUp = false;

  const create = async (event: KnownEvent, { count, signal }: WriteAttempt): Promise<void> => {
    // The name is chosen once, so that a retry after a lost reply creates no second event.
    event.name ??= eventName(event.input.regarding.name, random);
    const { input, name, lastWallMs: wallMs } = event;
    const body = eventBody({ input, component, instance, name, wallMs, count });
    try {
      await client.create(EVENTS, body, { signal });
    } catch (error) {
      if (!isFault(error, "already-exists")) throw error;
    }
    event.writtenCount = count;
  };
  const countUp = async (event: KnownEvent, { count, signal }: WriteAttempt): Promise<void> => {
    const name = { name: event.name ?? "", namespace: eventNamespace(event.input.regarding) };
    const body = { count, lastTimestamp: eventTime(event.lastWallMs) };
    await client.patch(EVENTS, { name, patch: { kind: "merge", body } }, { signal });
    event.writtenCount = count;
  };
  const write = async (event: KnownEvent, signal: AbortSignal): Promise<void> => {
    const pending = event.unwritten;
    try {
      if (event.writtenCount === 0) await create(event, { count: pending, signal });
      else await countUp(event, { count: event.writtenCount + pending, signal });
    } catch (error) {
      if (event.writtenCount === 0 || !isFault(error, "not-found")) throw error;
      // API servers delete events after an hour.
      event.name = undefined;
      event.writtenCount = 0;
      await create(event, { count: pending, signal });
    }
    event.unwritten -= pending;
  };

  const work = async (key: string): Promise<WorkResult> => {
    const event = known.get(key);
    if (event === undefined || event.unwritten === 0 || isGivingUp) return { kind: "done" };
    const writing = idleTimeout({
      what: "writing an event",
      limitMs: WRITE_MS,
      signal: neverAborted,
      clock,
    });
    try {
      await writing.run(() => write(event, writing.signal));
      reporter.recovered();
      return { kind: "done" };
    } catch (error) {
      const fault = toFault(error);
      reporter.failed(fault);
      isGivingUp = isStopping;
      if (fault.retry && queue.failures(key) + 1 < MAX_TRIES) return { kind: "retry" };
      known.forget(key);
      return { kind: "done" };
    }
  };
  const queue = workQueue({ work }, { clock, random, log });

  const record = (input: EventInput): void => {
    const key = known.add(input);
    if (key !== undefined) {
      isDropping = false;
      queue.add(key);
    } else if (!isDropping) {
      isDropping = true;
      log.warn({ component }, "too many pending events: new ones are dropped");
    }
  };

  return {
    record,
    stop: async () => {
      isStopping = true;
      await queue.stop();
    },
  };
}

interface WriteAttempt {
  readonly count: number;
  readonly signal: AbortSignal;
}

function isFault(error: unknown, code: FaultCode): boolean {
  return error instanceof Fault && error.code === code;
}
