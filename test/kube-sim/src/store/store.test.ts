import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type JsonObject, metadataOf, nameOf } from "../json.ts";
import type { Change } from "./changes.ts";
import { createStore, type Store } from "./store.ts";

const EVERYTHING = { span: { from: "" }, limit: Number.POSITIVE_INFINITY, matches: () => true };

function object(name: string, text = ""): JsonObject {
  return { metadata: { name }, text };
}

function namesAt(store: Store, at: number = store.version()): readonly string[] {
  return store.page("things", { ...EVERYTHING, at }).objects.map(nameOf);
}

const write = fc.record({
  key: fc.integer({ min: 0, max: 12 }).map((number) => `ns/${number}`),
  isRemoval: fc.boolean(),
});

function perform(
  store: Store,
  { key, isRemoval }: { readonly key: string; readonly isRemoval: boolean },
): void {
  if (isRemoval) store.delete("things", key);
  else store.put("things", key, object(key, String(store.version())));
}

describe("the store", () => {
  it("freezes what it keeps, to its depths, and shares it with every reader", () => {
    const store = createStore();
    const stored = store.put("things", "a", {
      metadata: { labels: { a: "b" } },
      spec: { list: [{ deep: 1 }] },
    });
    expect(Object.isFrozen(stored)).toBe(true);
    expect(() => Object.assign(metadataOf(stored)["labels"] ?? {}, { a: "c" })).toThrow(TypeError);
    expect(store.get("things", "a")).toBe(stored);
  });

  it("lists any version it remembers as it was then", () => {
    fc.assert(
      fc.property(fc.array(write, { minLength: 1, maxLength: 60 }), (writes) => {
        const store = createStore();
        const snapshots = new Map([[store.version(), namesAt(store)]]);
        for (const next of writes) {
          perform(store, next);
          snapshots.set(store.version(), namesAt(store));
        }
        for (const [version, names] of snapshots) expect(namesAt(store, version)).toEqual(names);
      }),
    );
  });

  it("lets a watcher that applies changes from any listed version reach the state of the store", () => {
    fc.assert(
      fc.property(fc.array(write, { maxLength: 60 }), fc.array(write, { maxLength: 60 }), (before, after) => {
        const store = createStore();
        for (const next of before) perform(store, next);
        const version = store.version();
        const listed = store.page("things", { ...EVERYTHING, at: version }).objects;
        const seen = new Map(listed.map((item) => [nameOf(item), item]));
        const follow = ({ key, after: now }: Change) =>
          now === undefined ? seen.delete(key) : seen.set(key, now);
        const half = after.length >>> 1;
        for (const next of after.slice(0, half)) perform(store, next);
        for (const change of store.since(version)) follow(change);
        store.watch({ resource: "things", after: store.version(), each: follow });
        for (const next of after.slice(half)) perform(store, next);
        const current = store.page("things", { ...EVERYTHING, at: store.version() }).objects;
        expect([...seen.values()].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))).toEqual(current);
      }),
    );
  });

  it("pages through one version however many writes come between the pages", () => {
    fc.assert(
      fc.property(
        fc.array(write, { maxLength: 40 }),
        fc.array(write, { maxLength: 40 }),
        fc.integer({ min: 1, max: 5 }),
        (before, between, limit) => {
          const store = createStore();
          for (const next of before) perform(store, next);
          const at = store.version();
          const wanted = namesAt(store);
          const paged: string[] = [];
          let from = "";
          const writes = [...between];
          for (;;) {
            const page = store.page("things", { span: { from }, at, limit, matches: () => true });
            paged.push(...page.objects.map(nameOf));
            if (page.lastKey === undefined) break;
            from = `${page.lastKey}\0`;
            for (const next of writes.splice(0, 3)) perform(store, next);
          }
          expect(paged).toEqual(wanted);
        },
      ),
    );
  });

  it("remembers a bounded number of changes, more for a larger store", () => {
    const store = createStore();
    for (let round = 0; round < 5000; round++) store.put("things", "same", object("same", String(round)));
    const kept = store.version() - store.oldest();
    expect(kept >= 1000 && kept <= 1250).toBe(true);
    expect(store.since(store.oldest())).toHaveLength(kept);
    for (let each = 0; each < 8000; each++) store.put("things", `k${each}`, object(`k${each}`));
    expect(store.version() - store.oldest()).toBeGreaterThanOrEqual(2000);
  });

  it("tells every watcher of its own namespace and kind, and nobody else", () => {
    const store = createStore();
    const heard: string[] = [];
    const listen = (who: string, place: { resource?: string; namespace?: string }) =>
      store.watch({ ...place, after: store.version(), each: ({ key }) => heard.push(`${who} ${key}`) });
    listen("all", {});
    listen("things", { resource: "things" });
    listen("inside", { resource: "things", namespace: "a" });
    const stop = listen("late", { resource: "things", namespace: "b" });
    store.put("things", "a/1", object("1"));
    store.put("things", "b/1", object("1"));
    stop();
    store.put("things", "b/2", object("2"));
    store.put("nodes", "n", object("n"));
    expect(heard.toSorted()).toEqual([
      "all a/1",
      "all b/1",
      "all b/2",
      "all n",
      "inside a/1",
      "late b/1",
      "things a/1",
      "things b/1",
      "things b/2",
    ]);
  });

  it("tells all watchers of one change before the change that a watcher makes of it", () => {
    const store = createStore();
    const heard: string[] = [];
    store.watch({
      after: 0,
      each: ({ key }) => {
        heard.push(`first ${key}`);
        if (key === "a") store.put("things", "b", object("b"));
      },
    });
    store.watch({ after: 0, each: ({ key }) => heard.push(`second ${key}`) });
    store.put("things", "a", object("a"));
    expect(heard).toEqual(["first a", "second a", "first b", "second b"]);
  });

  it("lets a watcher's fault neither pass in silence nor keep others from a change", () => {
    const store = createStore();
    const heard: string[] = [];
    store.watch({
      after: 0,
      each: () => {
        throw new Error("broken");
      },
    });
    store.watch({ after: 0, each: ({ key }) => heard.push(key) });
    expect(() => store.put("things", "a", object("a"))).toThrow("a watcher failed");
    expect(() => store.put("things", "b", object("b"))).toThrow(AggregateError);
    expect(heard).toEqual(["a", "b"]);
  });
});
