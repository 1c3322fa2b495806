import type { MachineTime } from "@resource-broker/runtime";
import type { Happening } from "./event-body.ts";

/** A recently recorded event. */
export interface KnownEvent {
  readonly happening: Happening;
  /** Undefined: no try to write it yet. */
  name: string | undefined;
  /** Count in the API server; 0: not written yet. */
  writtenCount: number;
  /** Occurrences since the last write. */
  unwritten: number;
  /** Wall clock, for people. */
  happenedAt: number;
  /** Monotonic. */
  seenAt: number;
}

/** Cache of recent events with a fixed capacity. */
export interface KnownEvents {
  /** Adds an occurrence and returns the key to write it with; undefined: the cache is full. */
  readonly add: (happening: Happening) => string | undefined;
  readonly get: (key: string) => KnownEvent | undefined;
  readonly forget: (key: string) => void;
}

/** After this time the same event is recorded as a new one. */
const SAME_WITHIN_MS = 600_000;

export function knownEvents(capacity: number, machine: MachineTime): KnownEvents {
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
    if (now - event.seenAt < SAME_WITHIN_MS) return event;
    events.delete(key);
    return undefined;
  };

  return {
    add: (happening) => {
      const key = keyOf(happening);
      const seenAt = machine.monotonicMs();
      const known = recent(key, seenAt);
      if (known === undefined && !makeRoom()) return undefined;
      const event = known ?? {
        happening,
        name: undefined,
        writtenCount: 0,
        unwritten: 0,
        happenedAt: 0,
        seenAt,
      };
      event.unwritten++;
      event.happenedAt = machine.wallMs();
      event.seenAt = seenAt;
      events.delete(key);
      events.set(key, event);
      return key;
    },
    get: (key) => events.get(key),
    forget: (key) => events.delete(key),
  };
}

function keyOf({ regarding, type, reason, message }: Happening): string {
  const { apiVersion, kind, namespace, name, uid, fieldPath } = regarding;
  return JSON.stringify([apiVersion, kind, namespace, name, uid, fieldPath, type, reason, message]);
}
