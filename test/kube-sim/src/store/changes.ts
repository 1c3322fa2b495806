import type { JsonObject } from "../json.ts";

/** Something happened to one object. Watchers share it: nothing in it is ever changed. */
export interface Change {
  readonly version: number;
  /** `pods`, `leases.coordination.k8s.io`: where objects of all versions of a kind lie. */
  readonly resource: string;
  /** `namespace/name`, or `name` for kinds without namespaces. */
  readonly key: string;
  /** Absent: it was created. */
  readonly before?: JsonObject;
  /** Absent: it was deleted. */
  readonly after?: JsonObject;
  /** The last state of a deleted object, with the version of the deletion. */
  readonly last?: JsonObject;
}

/** The newest changes, oldest first: bounded, so that a busy cluster does not remember for ever. */
export interface History {
  /** Keeps at least the newest `most`. */
  readonly add: (change: Change, most: number) => void;
  readonly since: (version: number) => readonly Change[];
  readonly oldest: () => number;
  /** Forgets everything up to the version. */
  readonly forget: (version: number) => void;
}

export function history(): History {
  let changes: Change[] = [];
  let oldest = 1;
  const since = (version: number): Change[] => {
    const at = changes.findLastIndex((change) => change.version <= version);
    return changes.slice(at + 1);
  };
  return {
    add: (change, most) => {
      changes.push(change);
      // Cutting the list for every change would copy it every time.
      if (changes.length <= most * 1.25) return;
      oldest = changes.at(-most - 1)?.version ?? oldest;
      changes = changes.slice(-most);
    },
    since,
    oldest: () => oldest,
    forget: (version) => {
      changes = since(version);
      oldest = Math.max(oldest, version);
    },
  };
}

export interface WatcherOptions {
  /** Absent: every resource. */
  readonly resource?: string;
  /** Absent: every namespace. */
  readonly namespace?: string;
  /** Changes up to this version are not for this watcher. */
  readonly after: number;
  readonly each: (change: Change) => void;
}

interface Watchers {
  readonly add: (options: WatcherOptions) => () => void;
  /** A callback that writes is told of its own change after the others have heard of the first one. */
  readonly notify: (change: Change) => void;
}

/** Everybody who is told about changes, found by what they asked for. */
export function watchers(): Watchers {
  const byPlace = new Map<string, Set<WatcherOptions>>();
  const waiting: Change[] = [];
  let isNotifying = false;

  const notifyOne = (change: Change, problems: unknown[]) => {
    for (const place of placesOf(change)) {
      for (const watcher of byPlace.get(place) ?? []) {
        if (change.version <= watcher.after) continue;
        try {
          watcher.each(change);
        } catch (problem) {
          problems.push(problem);
        }
      }
    }
  };
  return {
    add: (options) => {
      const place = placeOf(options.resource, options.namespace);
      const there = byPlace.get(place) ?? new Set();
      byPlace.set(place, there.add(options));
      return () => {
        there.delete(options);
        if (there.size === 0 && byPlace.get(place) === there) byPlace.delete(place);
      };
    },
    notify: (change) => {
      waiting.push(change);
      if (isNotifying) return;
      isNotifying = true;
      const problems: unknown[] = [];
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) notifyOne(next, problems);
      isNotifying = false;
      // One watcher's fault must not make the others miss a change, nor pass in silence.
      if (problems.length > 0) throw new AggregateError(problems, "a watcher failed on a change");
    },
  };
}

function placeOf(resource = "", namespace?: string): string {
  return namespace === undefined ? resource : `${resource}/${namespace}`;
}

function placesOf({ resource, key }: Change): readonly string[] {
  const slash = key.indexOf("/");
  return slash < 0 ? [resource, ""] : [resource, placeOf(resource, key.slice(0, slash)), ""];
}
