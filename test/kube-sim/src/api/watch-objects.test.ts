import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../json.ts";
import { nameOf } from "../json-access.ts";
import type { ClusterApi, WatchChange, WatchQuery } from "./cluster-api.ts";
import {
  DELETE,
  PATCH,
  PODS,
  refusalText,
  smallCluster,
  textsOf,
  versionOf,
  WIDGETS,
  WRITE,
  widget,
} from "./testing/small-cluster.ts";

function follow(api: ClusterApi, query: Partial<WatchQuery> = {}) {
  const changes: WatchChange[] = [];
  const watch = api.watch(WIDGETS, { resourceVersion: api.resourceVersion(), ...query }, (change) =>
    changes.push(change),
  );
  return { ...watch, changes };
}

function label(api: ClusterApi, name: string, value: string | null): JsonObject {
  const body = { metadata: { labels: { side: value } } };
  return api.patch({ ...WIDGETS, name }, { kind: "merge", body }, PATCH).object;
}

describe("watch", () => {
  it("tells changes of its kind and namespace after the version, until it is stopped", () => {
    const { api } = smallCluster();
    api.create(WIDGETS, widget("before"), WRITE);
    const watch = follow(api);
    api.create(WIDGETS, widget("a"), WRITE);
    label(api, "a", "left");
    api.create({ ...WIDGETS, namespace: "other" }, widget("elsewhere"), WRITE);
    api.create(PODS, { metadata: { name: "pod" } }, WRITE);
    api.delete({ ...WIDGETS, name: "a" }, DELETE);
    watch.stop();
    api.create(WIDGETS, widget("after"), WRITE);
    expect(textsOf(watch.changes)).toEqual(["ADDED a", "MODIFIED a", "DELETED a"]);
  });

  it("tells first what has happened since the version", () => {
    const { api } = smallCluster();
    const then = api.resourceVersion();
    api.create(WIDGETS, widget("a"), WRITE);
    api.create({ ...WIDGETS, namespace: "other" }, widget("elsewhere"), WRITE);
    api.delete({ ...WIDGETS, name: "a" }, DELETE);
    const { changes } = follow(api, { resourceVersion: then });
    expect(textsOf(changes)).toEqual(["ADDED a", "DELETED a"]);
    api.create(WIDGETS, widget("b"), WRITE);
    expect(textsOf(changes)).toEqual(["ADDED a", "DELETED a", "ADDED b"]);
  });

  it.each([
    ["no version", { resourceVersion: "" }, ["ADDED a", "ADDED b"]],
    ["version 0", { resourceVersion: "0" }, ["ADDED a", "ADDED b"]],
    ["initial events", { sendInitialEvents: true }, ["ADDED a", "ADDED b"]],
    ["no version, without initial events", { resourceVersion: "", sendInitialEvents: false }, ["ADDED b"]],
  ])("starts with %s", (_name, query, expected) => {
    const { api } = smallCluster();
    api.create(WIDGETS, widget("a"), WRITE);
    const { changes } = follow(api, query);
    api.create(WIDGETS, widget("b"), WRITE);
    expect(textsOf(changes)).toEqual(expected);
  });

  it("turns what stops to match into DELETED, and what begins to into ADDED", () => {
    const { api } = smallCluster();
    api.create(WIDGETS, widget("a"), WRITE);
    const { changes } = follow(api, { labelSelector: "side=left" });
    label(api, "a", "right");
    const left = label(api, "a", "left");
    api.patch({ ...WIDGETS, name: "a" }, { kind: "merge", body: { spec: { size: 2 } } }, PATCH);
    const gone = label(api, "a", null);
    api.delete({ ...WIDGETS, name: "a" }, DELETE);
    expect(textsOf(changes)).toEqual(["ADDED a", "MODIFIED a", "DELETED a"]);
    expect(changes[0]?.object).toBe(left);
    expect(changes[2]?.object).toMatchObject({
      metadata: { labels: { side: "left" }, resourceVersion: versionOf(gone) },
      spec: { size: 2 },
    });
  });

  it("refuses a version that is forgotten, or not there yet", () => {
    const { api } = smallCluster();
    const then = api.resourceVersion();
    api.create(WIDGETS, widget("a"), WRITE);
    api.compact();
    expect(refusalText(() => follow(api, { resourceVersion: then }))).toBe(
      `410 Expired: too old resource version: ${then} (${api.resourceVersion()})`,
    );
    expect(textsOf(follow(api, { resourceVersion: api.resourceVersion() }).changes)).toEqual([]);
    expect(textsOf(follow(api, { resourceVersion: then, sendInitialEvents: true }).changes)).toEqual([
      "ADDED a",
    ]);
    expect(refusalText(() => follow(api, { resourceVersion: "999" }))).toBe(
      `504 Timeout: Too large resource version: 999, current: ${api.resourceVersion()}`,
    );
  });

  it("tells changes in order to a watcher that writes while it hears what exists", () => {
    const { api } = smallCluster();
    for (const name of ["a", "b"]) api.create(WIDGETS, widget(name), WRITE);
    const changes: WatchChange[] = [];
    api.watch(WIDGETS, { resourceVersion: "" }, (change) => {
      changes.push(change);
      if (nameOf(change.object) === "a") api.delete({ ...WIDGETS, name: "b" }, DELETE);
      if (nameOf(change.object) === "b" && change.type === "DELETED") api.compact();
    });
    expect(textsOf(changes)).toEqual(["ADDED a", "ADDED b", "DELETED b"]);
  });

  it("tells a change once to a watcher that writes while it catches up", () => {
    const { api } = smallCluster();
    const then = api.resourceVersion();
    api.create(WIDGETS, widget("a"), WRITE);
    const changes: WatchChange[] = [];
    api.watch(WIDGETS, { resourceVersion: then }, (change) => {
      changes.push(change);
      if (nameOf(change.object) === "a") api.create(WIDGETS, widget("b"), WRITE);
    });
    expect(textsOf(changes)).toEqual(["ADDED a", "ADDED b"]);
  });

  it("tells a watcher that begins inside another's callback nothing twice", () => {
    const { api } = smallCluster();
    const changes: WatchChange[] = [];
    const outer = api.watch(WIDGETS, { resourceVersion: "" }, () => {
      outer.stop();
      api.create(WIDGETS, widget("b"), WRITE);
      api.watch(WIDGETS, { resourceVersion: "" }, (change) => changes.push(change));
    });
    api.create(WIDGETS, widget("a"), WRITE);
    expect(textsOf(changes)).toEqual(["ADDED a", "ADDED b"]);
  });

  it("lets whoever follows it from any version end with what a list shows, under any selector", () => {
    const step = fc.record({
      name: fc.constantFrom("a", "b", "c"),
      side: fc.constantFrom("left", "right", "none", "gone"),
    });
    const perform = (api: ClusterApi, { name, side }: { readonly name: string; readonly side: string }) => {
      const isThere = api.list(WIDGETS, { fieldSelector: `metadata.name=${name}` }).items.length > 0;
      if (side === "gone") return isThere ? api.delete({ ...WIDGETS, name }, DELETE) : undefined;
      if (!isThere) api.create(WIDGETS, widget(name), WRITE);
      return label(api, name, side === "none" ? null : side);
    };
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), fc.nat(25), fc.nat(25), (steps, listAt, watchAt) => {
        const { api } = smallCluster();
        const query = { labelSelector: "side=left" };
        const known = new Map<string, JsonObject>();
        let listed = "";
        const start = (index: number) => {
          if (index === Math.min(listAt, steps.length)) {
            const { items, resourceVersion } = api.list(WIDGETS, query);
            for (const item of items) known.set(nameOf(item), item);
            listed = resourceVersion;
          }
          if (index === Math.min(Math.max(listAt, watchAt), steps.length)) {
            api.watch(WIDGETS, { ...query, resourceVersion: listed }, ({ type, object }) => {
              if (type === "DELETED") known.delete(nameOf(object));
              else known.set(nameOf(object), object);
            });
          }
        };
        for (const [index, next] of steps.entries()) {
          start(index);
          perform(api, next);
        }
        start(steps.length);
        const sorted = [...known.values()].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
        expect(sorted).toEqual(api.list(WIDGETS, query).items);
      }),
    );
  });
});
