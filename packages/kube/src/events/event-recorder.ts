import { Fault, type FaultCode } from "@resource-broker/contract";
import type { Log, MachineTime } from "@resource-broker/runtime";
import { toFault, trouble } from "../backoff/trouble.ts";
import type { KubeClient } from "../client/client.ts";
import { guard } from "../follow/guard.ts";
import { type WorkEnd, workQueue } from "../queue/work-queue.ts";
import { EVENTS } from "../resource/resources.ts";
import { eventBody, eventName, eventNamespace, eventTime, type Happening } from "./event-body.ts";
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
  readonly machine: MachineTime;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Log;
}

/** Records events, as shown by `kubectl describe`. */
export interface EventRecorder {
  /** Returns at once and never throws. */
  readonly record: (happening: Happening) => void;
  /** Writes pending events unless the server is unreachable; resolves when nothing runs. */
  readonly stop: () => Promise<void>;
}

const CAPACITY = 1_000;
const MAX_TRIES = 8;
const WRITE_MS = 10_000;

/** Records core/v1 Events. The same event within 10 minutes increments `count` instead of creating a new object. */
export function eventRecorder(options: EventRecorderOptions, deps: EventRecorderDeps): EventRecorder {
  const { client, machine, random, log } = deps;
  const { component, instance } = options;
  const known = knownEvents(options.capacity ?? CAPACITY, machine);
  const troubles = trouble({ log, machine, what: "writing events", fields: { component } });
  const unending = new AbortController().signal;
  let isDropping = false;
  let isStopping = false;
  /** Set when a write fails during stop: the remaining events are dropped. */
  let isInVain = false;

  const create = async (event: KnownEvent, { count, signal }: Writing): Promise<void> => {
    // The name is chosen once, so that a retry after a lost reply creates no second event.
    event.name ??= eventName(event.happening.regarding.name, random);
    const { happening, name, happenedAt: wallMs } = event;
    const body = eventBody({ happening, component, instance, name, wallMs, count });
    try {
      await client.create(EVENTS, body, { signal });
    } catch (error) {
      if (!isFault(error, "already-exists")) throw error;
    }
    event.writtenCount = count;
  };
  const countUp = async (event: KnownEvent, { count, signal }: Writing): Promise<void> => {
    const name = { name: event.name ?? "", namespace: eventNamespace(event.happening.regarding) };
    const body = { count, lastTimestamp: eventTime(event.happenedAt) };
    await client.patch(EVENTS, { name, patch: { kind: "merge", body } }, { signal });
    event.writtenCount = count;
  };
  const write = async (event: KnownEvent, signal: AbortSignal): Promise<void> => {
    const happened = event.unwritten;
    try {
      if (event.writtenCount === 0) await create(event, { count: happened, signal });
      else await countUp(event, { count: event.writtenCount + happened, signal });
    } catch (error) {
      if (event.writtenCount === 0 || !isFault(error, "not-found")) throw error;
      // API servers delete events after an hour.
      event.name = undefined;
      event.writtenCount = 0;
      await create(event, { count: happened, signal });
    }
    event.unwritten -= happened;
  };

  const work = async (key: string): Promise<WorkEnd> => {
    const event = known.get(key);
    if (event === undefined || event.unwritten === 0 || isInVain) return { kind: "done" };
    const writing = guard({ what: "writing an event", limitMs: WRITE_MS, signal: unending, machine });
    try {
      await writing.run(() => write(event, writing.signal));
      troubles.ends();
      return { kind: "done" };
    } catch (error) {
      const fault = toFault(error);
      troubles.begins(fault);
      isInVain = isStopping;
      if (fault.retry && queue.failures(key) + 1 < MAX_TRIES) return { kind: "retry" };
      known.forget(key);
      return { kind: "done" };
    }
  };
  const queue = workQueue({ work }, { machine, random, log });

  const record = (happening: Happening): void => {
    const key = known.add(happening);
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

interface Writing {
  readonly count: number;
  readonly signal: AbortSignal;
}

function isFault(error: unknown, code: FaultCode): boolean {
  return error instanceof Fault && error.code === code;
}
