import type { Sink } from "../reflector/types.ts";
import type { FakeObject } from "./fake-store.ts";

/** A sink that knows the newest version of each object, and what a follower must never do to it. */
export interface CheckedSink extends Sink<FakeObject> {
  /** `namespace/name@version`, sorted. */
  readonly state: () => readonly string[];
  /** What was done against the rules. */
  readonly violations: string[];
  /** From now on nothing may come. */
  readonly close: () => void;
  readonly lists: () => number;
}

export function checkedSink(): CheckedSink {
  const known = new Map<string, number>();
  const violations: string[] = [];
  let listed: Set<string> | undefined;
  let lists = 0;
  let isClosed = false;
  const expectOpen = (what: string) => {
    if (isClosed) violations.push(`${what} after stop`);
  };
  return {
    beginList: () => {
      expectOpen("beginList");
      listed = new Set();
    },
    put: (object) => {
      expectOpen("put");
      const key = nameOf(object);
      const version = Number(object.metadata.resourceVersion);
      if (version < (known.get(key) ?? 0)) violations.push(`${key} went back to ${version}`);
      known.set(key, version);
      listed?.add(key);
    },
    remove: (object) => {
      expectOpen("remove");
      if (listed !== undefined) violations.push(`${nameOf(object)} removed during a list`);
      known.delete(nameOf(object));
    },
    endList: () => {
      expectOpen("endList");
      if (listed === undefined) violations.push("endList without beginList");
      for (const key of known.keys()) if (listed?.has(key) === false) known.delete(key);
      listed = undefined;
      lists++;
    },
    state: () => [...known].map(([key, version]) => `${key}@${version}`).sort(),
    violations,
    close: () => {
      isClosed = true;
    },
    lists: () => lists,
  };
}

/** What a checked sink should know. */
export function stateOf(objects: readonly FakeObject[]): readonly string[] {
  return objects.map((object) => `${nameOf(object)}@${object.metadata.resourceVersion}`).sort();
}

function nameOf({ metadata }: FakeObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}
