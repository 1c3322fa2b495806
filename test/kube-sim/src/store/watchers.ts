import type { Change } from "./change.ts";

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
  readonly notify: (change: Change) => void;
}

/** Everybody who is told about changes, found by what they asked for. */
export function watchers(): Watchers {
  const byPlace = new Map<string, Set<WatcherOptions>>();
  const waiting: Change[] = [];
  let isNotifying = false;

  const add = (options: WatcherOptions) => {
    const place = placeOf(options.resource, options.namespace);
    const there = byPlace.get(place) ?? new Set();
    byPlace.set(place, there.add(options));
    return () => {
      there.delete(options);
      if (there.size === 0 && byPlace.get(place) === there) byPlace.delete(place);
    };
  };

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
    add,
    /** A callback that writes is told of its own change after the others have heard of the first one. */
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

function placeOf(resource: string | undefined, namespace: string | undefined): string {
  return namespace === undefined ? (resource ?? "") : `${resource ?? ""}/${namespace}`;
}

function placesOf({ resource, key }: Change): readonly string[] {
  const slash = key.indexOf("/");
  return slash < 0 ? [resource, ""] : [resource, placeOf(resource, key.slice(0, slash)), ""];
}
