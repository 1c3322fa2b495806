import { type Clock, Fault, type FaultCode, type Log, toFault } from "@resource-broker/base";
import { failureReporter } from "../backoff/failure-reporter.ts";
import { idleTimeout } from "../backoff/idle-timeout.ts";
import type { KubeClient } from "../client/client.ts";
import { type WorkResult, workQueue } from "../queue/work-queue.ts";
import { EVENTS } from "../resource/resources.ts";
import { type EventInput, eventBody, eventName, eventNamespace, eventTime } from "./event-body.ts";
import { type KnownEvent, knownEvents } from "./known-events.ts";

export interface EventRecorderOptions {
  /** Reporting component. */
  readonly component: string;
  /** Reporting instance: the pod. */
  readonly instance: string;
  /** Maximum number of distinct events kept, including those not yet written. Absent: 1,000. */
  readonly capacity?: number;
}

export interface EventRecorderDeps {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Log;
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
export function eventRecorder(options: EventRecorderOptions, deps: EventRecorderDeps): EventRecorder {
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
