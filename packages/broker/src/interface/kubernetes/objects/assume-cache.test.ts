import type { ObjectCache } from "@resource-broker/kube";
import type { CacheListener } from "@resource-broker/kube/testing";
import { describe, expect, test } from "vitest";
import { assumeCache } from "./assume-cache.ts";

interface Thing {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
}

const thing = (resourceVersion: string, uid = "u1"): Thing => ({
  metadata: { name: "a", uid, resourceVersion },
});

function followed(first: Thing | undefined) {
  let now = first;
  const listeners = new Set<CacheListener<Thing>>();
  const kept: ObjectCache<Thing> = {
    get: () => now,
    keys: () => ["a"].values(),
    values: () => (now === undefined ? [] : [now]).values(),
    size: () => (now === undefined ? 0 : 1),
    synced: () => true,
    listen: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const tell = (next: Thing | undefined): void => {
    const before = now;
    now = next;
    for (const listener of listeners) listener("a", next, before);
  };
  return { kept, tell };
}

const world = (first: Thing | undefined) => {
  const { kept, tell } = followed(first);
  return { newest: assumeCache(kept, (object) => object), tell };
};

describe("the newest of an object", () => {
  test("is what this process wrote, until the watch has caught up", () => {
    const { newest, tell } = world(thing("9"));
    newest.assume(thing("11"));
    expect(newest.get("a")).toEqual(thing("11"));
    tell(thing("10"));
    expect(newest.get("a")).toEqual(thing("11"));
    tell(thing("12"));
    expect(newest.get("a")).toEqual(thing("12"));
  });

  test("is never older than what the watch has told", () => {
    const { newest } = world(thing("100"));
    newest.assume(thing("99"));
    expect(newest.get("a")).toEqual(thing("100"));
  });

  test("is gone when the watch says so, and another of that name is another", () => {
    const { newest, tell } = world(thing("9"));
    newest.assume(thing("11"));
    tell(undefined);
    expect(newest.get("a")).toBeUndefined();
    newest.assume(thing("12"));
    expect(newest.get("a")).toBeUndefined();
    tell(thing("10", "u2"));
    newest.assume(thing("13", "u1"));
    expect(newest.get("a")).toEqual(thing("10", "u2"));
  });

  test("that the server no longer has is forgotten", () => {
    const { newest } = world(thing("9"));
    newest.assume(thing("11"));
    newest.forget("a");
    expect(newest.get("a")).toEqual(thing("9"));
  });
});
