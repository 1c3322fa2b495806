import type { Clock } from "@resource-broker/base";
import type { EventInput } from "./event-body.ts";

/** A recently recorded event. */
export interface KnownEvent {
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
export interface KnownEvents {
  /** Adds an occurrence and returns the key to write it with; undefined: the cache is full. */
  readonly add: (event: EventInput) => string | undefined;
  readonly get: (key: string) => KnownEvent | undefined;
  readonly forget: (key: string) => void;
}

/** After this time the same event is recorded as a new one. */
const SAME_WITHIN_MS = 600_000;

export function knownEvents(capacity: number, clock: Clock): KnownEvents {
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
