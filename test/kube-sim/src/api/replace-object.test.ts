import { describe, expect, it } from "vitest";
import type { JsonObject } from "../json.ts";
import { metadataOf, uidOf, withMetadata } from "../json-access.ts";
import type { Target, WatchChange } from "./cluster-api.ts";
import {
  ANYWHERE,
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

const A: Target = { ...WIDGETS, name: "a" };
const A_STATUS: Target = { ...A, subresource: "status" };

function withWidget(spec: JsonObject = { size: 1 }) {
  const cluster = smallCluster();
  const { object } = cluster.api.create(WIDGETS, widget("a", spec), WRITE);
  return { ...cluster, object };
}

describe("update", () => {
  it("replaces what is outside of status and counts the generation", () => {
    const { api, object } = withWidget();
    const written = api.update(A, { ...object, spec: { size: 2 }, status: { phase: "Wrong" } }, WRITE);
    expect(written.isNew).toBe(false);
    expect(written.object["spec"]).toEqual({ size: 2 });
    expect(written.object["status"]).toBeUndefined();
    expect(metadataOf(written.object)["generation"]).toBe(2);
    expect(versionOf(written.object)).toBe(api.resourceVersion());
  });

  it("writes status alone through its own path", () => {
    const { api, object } = withWidget();
    const changed = withMetadata(
      { ...object, spec: { size: 9 }, status: { phase: "Ready" } },
      { labels: { x: "y" } },
    );
    const written = api.update(A_STATUS, changed, WRITE).object;
    expect(written).toEqual({
      ...object,
      status: { phase: "Ready" },
      metadata: { ...metadataOf(object), resourceVersion: api.resourceVersion() },
    });
  });

  it("leaves the generation alone when only metadata changes", () => {
    const { api, object } = withWidget();
    const written = api.update(A, withMetadata(object, { labels: { x: "y" } }), WRITE).object;
    expect(metadataOf(written)).toMatchObject({ generation: 1, labels: { x: "y" } });
  });

  it("makes no version and no event of a write that changes nothing", () => {
    const { api, object } = withWidget();
    const changes: WatchChange[] = [];
    api.watch(WIDGETS, { resourceVersion: api.resourceVersion() }, (change) => changes.push(change));
    const before = api.resourceVersion();
    expect(api.update(A, { ...object }, WRITE).object).toBe(object);
    expect(api.patch(A, { kind: "merge", body: { spec: { size: 1 } } }, PATCH).object).toBe(object);
    expect(api.resourceVersion()).toBe(before);
    expect(textsOf(changes)).toEqual([]);
  });

  it("stores nothing when it is only asked what would happen", () => {
    const { api, object } = withWidget();
    const written = api.update(A, { ...object, spec: { size: 3 } }, { ...WRITE, dryRun: true }).object;
    expect(written["spec"]).toEqual({ size: 3 });
    expect(api.get(A)).toBe(object);
  });

  it("keeps what the server owns, whatever a client leaves out", () => {
    const { api, object } = withWidget();
    const written = api.update(
      A,
      widget("a", { size: 5 }, { resourceVersion: versionOf(object) }),
      WRITE,
    ).object;
    const { uid, creationTimestamp, namespace } = metadataOf(object);
    expect(metadataOf(written)).toMatchObject({ uid, creationTimestamp, namespace, generation: 2 });
  });

  it("lets kinds that allow it be replaced without a version", () => {
    const { api } = smallCluster();
    api.create(PODS, { metadata: { name: "p" } }, WRITE);
    const written = api.update(
      { ...PODS, name: "p" },
      { metadata: { name: "p", labels: { x: "y" } } },
      WRITE,
    ).object;
    expect(metadataOf(written)["labels"]).toEqual({ x: "y" });
  });

  const refused: readonly (readonly [string, (object: JsonObject) => JsonObject, string])[] = [
    [
      "an older version",
      (object) => withMetadata(object, { resourceVersion: "1" }),
      '409 Conflict: Operation cannot be fulfilled on widgets.example.com "a": the object has been modified; please apply your changes to the latest version and try again',
    ],
    [
      "a custom resource without a version",
      () => widget("a"),
      '422 Invalid: widgets.example.com "a" is invalid: metadata.resourceVersion: Invalid value: 0x0: must be specified for an update',
    ],
    [
      "another name",
      (object) => withMetadata(object, { name: "b" }),
      "400 BadRequest: the name of the object (b) does not match the name on the URL (a)",
    ],
    [
      "no name",
      (object) => withMetadata(object, { name: undefined }),
      "400 BadRequest: the name of the object (a based on URL) was undeterminable: name must be provided",
    ],
    [
      "another namespace",
      (object) => withMetadata(object, { namespace: "other" }),
      "400 BadRequest: the namespace of the provided object does not match the namespace sent on the request",
    ],
    [
      "another creation time",
      (object) => withMetadata(object, { creationTimestamp: "2020-01-01T00:00:00Z" }),
      '422 Invalid: Widget.example.com "a" is invalid: metadata.creationTimestamp: Invalid value: "2020-01-01T00:00:00Z": field is immutable',
    ],
    [
      "a deletion time",
      (object) => withMetadata(object, { deletionTimestamp: "2020-01-01T00:00:00Z" }),
      '422 Invalid: Widget.example.com "a" is invalid: metadata.deletionTimestamp: Invalid value: "2020-01-01T00:00:00Z": field is immutable',
    ],
  ];
  for (const [what, change, message] of refused) {
    it(`refuses ${what}`, () => {
      const { api, object } = withWidget();
      expect(refusalText(() => api.update(A, change(object), WRITE))).toBe(message);
      expect(api.get(A)).toBe(object);
    });
  }

  it("refuses the object of an earlier life", () => {
    const { api, object } = withWidget();
    const stranger = withMetadata(object, { uid: "other-uid" });
    expect(refusalText(() => api.update(A, stranger, WRITE))).toBe(
      `409 Conflict: Operation cannot be fulfilled on widgets.example.com "a": StorageError: invalid object, Code: 4, Key: /registry/example.com/widgets/default/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: other-uid, UID in object meta: ${uidOf(object)}`,
    );
    expect(refusalText(() => api.patch(A, { kind: "merge", body: { metadata: { uid: "x" } } }, PATCH))).toBe(
      '422 Invalid: Widget.example.com "a" is invalid: metadata.uid: Invalid value: "x": field is immutable',
    );
  });

  it("refuses an object that is not there", () => {
    const { api } = smallCluster();
    expect(refusalText(() => api.update(A, widget("a"), WRITE))).toBe(
      '404 NotFound: widgets.example.com "a" not found',
    );
    expect(refusalText(() => api.get(A))).toBe('404 NotFound: widgets.example.com "a" not found');
    expect(refusalText(() => api.patch(A, { kind: "merge", body: {} }, PATCH))).toBe(
      '404 NotFound: widgets.example.com "a" not found',
    );
  });

  it("refuses new finalizers once an object goes", () => {
    const { api } = smallCluster();
    api.create(WIDGETS, widget("a", {}, { finalizers: ["example.com/one"] }), WRITE);
    api.delete(A, DELETE);
    const body = { metadata: { finalizers: ["example.com/one", "example.com/two"] } };
    expect(refusalText(() => api.patch(A, { kind: "merge", body }, PATCH))).toBe(
      '422 Invalid: Widget.example.com "a" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/two"}',
    );
  });

  it("shows an object of one version through another", () => {
    const { api, register, object } = withWidget();
    const { definition } = WIDGETS;
    const newer = { ...definition, version: "v2" };
    register(newer);
    const target = { ...A, definition: newer };
    expect(api.get(target)).toEqual({ ...object, apiVersion: "example.com/v2" });
    const listed = api.list({ definition: newer, namespace: "default" }, ANYWHERE).items;
    expect(listed.map(({ apiVersion }) => apiVersion)).toEqual(["example.com/v2"]);
  });
});

describe("a registered kind", () => {
  it("is served until it is unregistered, and its objects go with its last version", () => {
    const { api, unregister, register } = withWidget();
    const { definition } = WIDGETS;
    const newer = { ...definition, version: "v2" };
    register(newer);
    expect(api.definitions().filter(({ plural }) => plural === "widgets")).toEqual([definition, newer]);
    const changes: WatchChange[] = [];
    api.watch(WIDGETS, { resourceVersion: api.resourceVersion() }, (change) => changes.push(change));
    unregister(newer);
    expect(textsOf(changes)).toEqual([]);
    unregister(definition);
    expect(textsOf(changes)).toEqual(["DELETED a"]);
    expect(api.definitions().some(({ plural }) => plural === "widgets")).toBe(false);
  });

  it("tells every change of every kind to whoever runs the cluster, who may write", () => {
    const { api, onChange } = smallCluster();
    const seen: string[] = [];
    const stop = onChange(({ kind }, { before, after }) => {
      seen.push(`${kind} ${before === undefined ? "-" : "before"} ${after === undefined ? "-" : "after"}`);
      if (kind === "Pod" && before === undefined) api.create(WIDGETS, widget("made"), WRITE);
    });
    api.create(PODS, { metadata: { name: "p" } }, WRITE);
    api.delete({ ...PODS, name: "p" }, DELETE);
    stop();
    api.delete({ ...WIDGETS, name: "made" }, DELETE);
    expect(seen).toEqual(["Pod - after", "Widget - after", "Pod before -"]);
  });

  it("seeds objects with their status, and again", () => {
    const { api, seed } = smallCluster();
    const { definition } = WIDGETS;
    const at = { namespace: "default" };
    seed(definition, { ...widget("s", { size: 1 }, at), status: { phase: "New" } });
    expect(api.get({ ...WIDGETS, name: "s" })["status"]).toEqual({ phase: "New" });
    seed(definition, { ...widget("s", { size: 2 }, at), status: { phase: "Old" } });
    expect(api.get({ ...WIDGETS, name: "s" })).toMatchObject({ spec: { size: 2 }, status: { phase: "Old" } });
  });
});
