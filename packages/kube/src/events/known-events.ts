import type { MachineTime } from "@resource-broker/runtime";
import type { Happening } from "./event-body.ts";

/** An event that happened not long ago. */
export interface KnownEvent {
  readonly happening: Happening;
  /** Undefined: no try to write it yet. */
  name: string | undefined;
  /** As the API server has it; 0: it does not have it yet. */
  writtenCount: number;
  /** How often it happened since it was written. */
  unwritten: number;
  /** Wall clock, for people. */
  happenedAt: number;
  /** Monotonic. */
  seenAt: number;
}

/** The events of the last minutes, at most so many. */
export interface KnownEvents {
  /** Notes that it happened, and gives the key to write it by; undefined: there is no room for another one. */
  readonly add: (happening: Happening) => string | undefined;
  readonly get: (key: string) => KnownEvent | undefined;
  readonly forget: (key: string) => void;
}

/** The same event after a longer time is news. */
const SAME_WITHIN_MS = 600_000;

export function knownEvents(capacity: number, machine: MachineTime): KnownEvents {
  // In the order of their last happening: the first is the one to forget.
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
