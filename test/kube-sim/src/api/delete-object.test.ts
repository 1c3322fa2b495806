import { describe, expect, it } from "vitest";
import { metadataOf, uidOf } from "../json-access.ts";
import type { Target, WatchChange } from "./cluster-api.ts";
import { podGrace } from "./pod-grace.ts";
import {
  ANYWHERE,
  DELETE,
  NAMESPACE,
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

const A: Target = { ...WIDGETS, name: "a" };
const POD_P: Target = { ...PODS, name: "p" };
const BOUND = { metadata: { name: "p" }, spec: { nodeName: "n" } };

describe("delete", () => {
  it("answers with a Status when the object is gone", () => {
    const { api } = smallCluster();
    const { object } = api.create(WIDGETS, widget("a"), WRITE);
    expect(api.delete(A, DELETE)).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Success",
      details: { name: "a", group: "example.com", kind: "widgets", uid: uidOf(object) },
    });
    expect(refusalText(() => api.delete(A, DELETE))).toBe('404 NotFound: widgets.example.com "a" not found');
  });

  it("reports the last state with the version of the deletion", () => {
    const { api } = smallCluster();
    const { object } = api.create(WIDGETS, widget("a", { size: 4 }), WRITE);
    const changes: WatchChange[] = [];
    api.watch(WIDGETS, { resourceVersion: api.resourceVersion() }, (change) => changes.push(change));
    api.delete(A, DELETE);
    expect(changes).toEqual([
      {
        type: "DELETED",
        object: { ...object, metadata: { ...metadataOf(object), resourceVersion: api.resourceVersion() } },
      },
    ]);
  });

  it("waits for finalizers, and ends with the last of them", () => {
    const { api } = smallCluster();
    api.create(WIDGETS, widget("a", {}, { finalizers: ["example.com/one", "example.com/two"] }), WRITE);
    const changes: WatchChange[] = [];
    api.watch(WIDGETS, { resourceVersion: api.resourceVersion() }, (change) => changes.push(change));
    const lingering = api.delete(A, DELETE);
    expect(metadataOf(lingering)).toMatchObject({
      deletionTimestamp: "2026-01-05T12:00:00Z",
      deletionGracePeriodSeconds: 0,
      generation: 2,
    });
    expect(api.delete(A, DELETE)).toBe(lingering);
    const drop = (finalizers: readonly string[]) =>
      api.patch(A, { kind: "merge", body: { metadata: { finalizers } } }, PATCH).object;
    expect(metadataOf(drop(["example.com/two"]))["deletionTimestamp"]).toBe("2026-01-05T12:00:00Z");
    expect(metadataOf(drop([]))["finalizers"]).toEqual([]);
    expect(textsOf(changes)).toEqual(["MODIFIED a", "MODIFIED a", "DELETED a"]);
    expect(refusalText(() => api.get(A))).toContain("404 NotFound");
  });

  it("stores nothing when it is only asked what would happen", () => {
    const { api } = smallCluster();
    const { object } = api.create(WIDGETS, widget("a", {}, { finalizers: ["example.com/one"] }), WRITE);
    expect(metadataOf(api.delete(A, { ...DELETE, dryRun: true }))["deletionTimestamp"]).toBeTypeOf("string");
    expect(api.get(A)).toBe(object);
    api.create(WIDGETS, widget("b"), WRITE);
    expect(api.delete({ ...A, name: "b" }, { ...DELETE, dryRun: true })).toMatchObject({ status: "Success" });
    expect(api.get({ ...A, name: "b" })).toBeDefined();
  });

  it("refuses when the uid or the version is another", () => {
    const { api } = smallCluster();
    const { object } = api.create(WIDGETS, widget("a"), WRITE);
    expect(refusalText(() => api.delete(A, { ...DELETE, uid: "x" }))).toBe(
      `409 Conflict: Operation cannot be fulfilled on Widget.example.com "a": the UID in the precondition (x) does not match the UID in record (${uidOf(object)}). The object might have been deleted and then recreated`,
    );
    expect(refusalText(() => api.delete(A, { ...DELETE, resourceVersion: "1" }))).toBe(
      `409 Conflict: Operation cannot be fulfilled on Widget.example.com "a": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (${versionOf(object)}). The object might have been modified`,
    );
    const exact = { ...DELETE, uid: uidOf(object), resourceVersion: versionOf(object) };
    expect(api.delete(A, exact)).toMatchObject({ status: "Success" });
  });

  it("keeps the namespaces a cluster needs", () => {
    const { api } = smallCluster();
    expect(refusalText(() => api.delete({ definition: NAMESPACE, name: "default" }, DELETE))).toBe(
      '403 Forbidden: namespaces "default" is forbidden: this namespace may not be deleted',
    );
  });

  it("removes a pod that no node runs at once, and answers with it", () => {
    const { api } = smallCluster();
    const { object } = api.create(PODS, { metadata: { name: "p" } }, WRITE);
    expect(api.delete(POD_P, DELETE)).toBe(object);
    expect(api.list(PODS, ANYWHERE).items).toEqual([]);
  });

  it("gives a pod on a node its time, which a second deletion can only shorten", () => {
    const { api } = smallCluster();
    api.create(PODS, BOUND, WRITE);
    expect(metadataOf(api.delete(POD_P, DELETE))).toMatchObject({
      deletionTimestamp: "2026-01-05T12:00:30Z",
      deletionGracePeriodSeconds: 30,
    });
    expect(
      metadataOf(api.delete(POD_P, { ...DELETE, gracePeriodSeconds: 60 }))["deletionGracePeriodSeconds"],
    ).toBe(30);
    expect(metadataOf(api.delete(POD_P, { ...DELETE, gracePeriodSeconds: 5 }))).toMatchObject({
      deletionTimestamp: "2026-01-05T12:00:05Z",
      deletionGracePeriodSeconds: 5,
    });
    api.delete(POD_P, { ...DELETE, gracePeriodSeconds: 0 });
    expect(refusalText(() => api.get(POD_P))).toBe('404 NotFound: pods "p" not found');
  });

  it("lets a pod with finalizers go when both its time and they are over", () => {
    const { api } = smallCluster();
    api.create(PODS, { ...BOUND, metadata: { name: "p", finalizers: ["example.com/x"] } }, WRITE);
    api.delete(POD_P, DELETE);
    const noFinalizers = { kind: "merge", body: { metadata: { finalizers: null } } } as const;
    api.patch(POD_P, noFinalizers, PATCH);
    expect(metadataOf(api.get(POD_P))["deletionGracePeriodSeconds"]).toBe(30);
    api.delete(POD_P, { ...DELETE, gracePeriodSeconds: 0 });
    expect(refusalText(() => api.get(POD_P))).toContain("404");
  });

  it.each([
    ["no node", {}, {}, undefined, 0],
    ["no node, whatever is asked", {}, {}, 9, 0],
    ["an ended pod", { nodeName: "n" }, { phase: "Succeeded" }, undefined, 0],
    ["a failed pod", { nodeName: "n" }, { phase: "Failed" }, undefined, 0],
    ["the default", { nodeName: "n" }, {}, undefined, 30],
    ["the pod's own", { nodeName: "n", terminationGracePeriodSeconds: 7 }, {}, undefined, 7],
    ["what is asked", { nodeName: "n", terminationGracePeriodSeconds: 7 }, {}, 3, 3],
    ["a negative one", { nodeName: "n" }, {}, -1, 1],
  ])("waits for a pod: %s", (_name, spec, status, asked, seconds) => {
    expect(podGrace({ spec, status }, asked)).toBe(seconds);
  });
});

describe("deleteCollection", () => {
  it("deletes what is selected and lists it", () => {
    const { api } = smallCluster();
    for (const name of ["a", "b", "c"]) {
      api.create(WIDGETS, widget(name, {}, { labels: { side: name === "c" ? "right" : "left" } }), WRITE);
    }
    api.create({ ...WIDGETS, namespace: "other" }, widget("a", {}, { labels: { side: "left" } }), WRITE);
    const answer = api.deleteCollection(WIDGETS, { labelSelector: "side=left" }, DELETE);
    expect(answer).toMatchObject({
      kind: "WidgetList",
      apiVersion: "example.com/v1",
      items: [{ metadata: { name: "a" } }, { metadata: { name: "b" } }],
    });
    const left = api.list({ definition: WIDGETS.definition }, {}).items.map((item) => {
      const { namespace, name } = metadataOf(item);
      return [namespace, name];
    });
    expect(left).toEqual([
      ["default", "c"],
      ["other", "a"],
    ]);
  });
});
