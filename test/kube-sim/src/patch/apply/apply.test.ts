import { describe, expect, it } from "vitest";
import type { ClusterApi, Target } from "../../api/cluster-api.ts";
import {
  PATCH,
  PODS,
  refusalOf,
  refusalText,
  type SmallCluster,
  smallCluster,
  WIDGETS,
  WRITE,
  widget,
} from "../../api/testing/small-cluster.ts";
import type { JsonObject } from "../../json.ts";
import { isObject, listAt, metadataOf } from "../../json-access.ts";

const A: Target = { ...WIDGETS, name: "a" };

interface Options {
  readonly by?: string;
  readonly force?: boolean;
  readonly target?: Target;
}

function apply(
  api: ClusterApi,
  body: JsonObject,
  { by = "one", force = false, target = A }: Options = {},
): JsonObject {
  return api.patch(target, { kind: "apply", body }, { ...PATCH, fieldManager: by, force }).object;
}

function applySpec(api: ClusterApi, spec: JsonObject, options: Options = {}): JsonObject {
  return apply(api, widget("a", spec), options);
}

/** Who owns what, without the times. */
function managersOf(object: JsonObject): readonly JsonObject[] {
  return listAt(metadataOf(object), "managedFields")
    .filter(isObject)
    .map(({ manager, operation, subresource, fieldsV1 }) => ({
      manager,
      operation,
      ...(subresource === undefined ? {} : { subresource }),
      fieldsV1,
    }));
}

describe("server-side apply", () => {
  it("creates what is not there, and writes down who owns what", () => {
    const { api } = smallCluster();
    const written = api.patch(
      A,
      {
        kind: "apply",
        body: widget(
          "a",
          { size: 1, parts: [{ name: "p", mass: 2 }], tags: ["x"], frame: { a: 1 }, list: [1, 2], none: {} },
          { labels: { l: "1" } },
        ),
      },
      { ...PATCH, fieldManager: "one" },
    );
    expect(written.isNew).toBe(true);
    expect(metadataOf(written.object)["managedFields"]).toEqual([
      {
        manager: "one",
        operation: "Apply",
        apiVersion: "example.com/v1",
        time: "2026-01-05T12:00:00Z",
        fieldsType: "FieldsV1",
        fieldsV1: {
          "f:metadata": { "f:labels": { "f:l": {} } },
          "f:spec": {
            "f:frame": {},
            "f:list": {},
            "f:none": {},
            "f:parts": { 'k:{"name":"p"}': { ".": {}, "f:mass": {}, "f:name": {} } },
            "f:size": {},
            "f:tags": { 'v:"x"': {} },
          },
        },
      },
    ]);
  });

  it("takes away what the second apply no longer says", () => {
    const { api } = smallCluster();
    applySpec(api, { size: 1, color: "red", deep: { only: 1 } });
    const object = applySpec(api, { size: 1 });
    expect(object["spec"]).toEqual({ size: 1 });
    expect(managersOf(object)).toEqual([
      { manager: "one", operation: "Apply", fieldsV1: { "f:spec": { "f:size": {} } } },
    ]);
  });

  it("makes no version of an apply that changes nothing, however late", async () => {
    const { api, time } = smallCluster();
    const first = applySpec(api, { size: 1, parts: [{ name: "p" }] });
    const before = api.resourceVersion();
    await time.advance(60_000);
    expect(applySpec(api, { size: 1, parts: [{ name: "p" }] })).toBe(first);
    expect(api.resourceVersion()).toBe(before);
  });

  it("keeps the fields of others, and takes its own from an object it shares", () => {
    const { api } = smallCluster();
    applySpec(api, { size: 1, color: "red", parts: [{ name: "p", mass: 1 }], tags: ["x"] });
    applySpec(api, { shape: "round", color: "red", parts: [{ name: "q" }], tags: ["x", "y"] }, { by: "two" });
    const object = applySpec(api, { size: 2 });
    expect(object["spec"]).toEqual({
      size: 2,
      shape: "round",
      color: "red",
      parts: [{ name: "q" }],
      tags: ["x", "y"],
    });
  });

  it("keeps an item of which another owns a field", () => {
    const { api } = smallCluster();
    applySpec(api, { parts: [{ name: "p", mass: 1 }, { name: "q" }] });
    applySpec(api, { parts: [{ name: "p", length: 7 }] }, { by: "two" });
    expect(applySpec(api, { parts: [{ name: "q" }] })["spec"]).toEqual({
      parts: [{ name: "p", length: 7 }, { name: "q" }],
    });
  });

  it("refuses to change a field of another, and names it", () => {
    const { api } = smallCluster();
    applySpec(api, { size: 1, parts: [{ name: "p", mass: 1 }] });
    const { status, code } = refusalOf(() => applySpec(api, { size: 2 }, { by: "two" }));
    expect(code).toBe(409);
    expect(status).toMatchObject({
      message: 'Apply failed with 1 conflict: conflict with "one": .spec.size',
      reason: "Conflict",
      details: {
        causes: [{ reason: "FieldManagerConflict", message: 'conflict with "one"', field: ".spec.size" }],
      },
    });
    expect(
      refusalText(() => applySpec(api, { size: 2, parts: [{ name: "p", mass: 2 }] }, { by: "two" })),
    ).toBe(
      '409 Conflict: Apply failed with 2 conflicts: conflicts with "one":\n- .spec.size\n- .spec.parts[name="p"].mass',
    );
    expect(api.get(A)["spec"]).toMatchObject({ size: 1 });
  });

  it("takes the field over when forced", () => {
    const { api } = smallCluster();
    applySpec(api, { size: 1, color: "red" });
    const object = applySpec(api, { size: 2 }, { by: "two", force: true });
    expect(object["spec"]).toEqual({ size: 2, color: "red" });
    expect(managersOf(object)).toEqual([
      { manager: "one", operation: "Apply", fieldsV1: { "f:spec": { "f:color": {} } } },
      { manager: "two", operation: "Apply", fieldsV1: { "f:spec": { "f:size": {} } } },
    ]);
    expect(applySpec(api, { color: "red" })["spec"]).toEqual({ size: 2, color: "red" });
  });

  it("replaces lists and maps that are one thing", () => {
    const { api } = smallCluster();
    applySpec(api, { list: [{ name: "a" }, { name: "b" }], frame: { a: 1, b: 2 } });
    expect(applySpec(api, { list: [{ name: "c" }], frame: { c: 3 } })["spec"]).toEqual({
      list: [{ name: "c" }],
      frame: { c: 3 },
    });
    expect(refusalText(() => applySpec(api, { frame: { c: 3, d: 4 } }, { by: "two" }))).toBe(
      '409 Conflict: Apply failed with 1 conflict: conflict with "one": .spec.frame',
    );
  });

  it("puts applied items in their order, and what only lives where it stood", () => {
    const { api } = smallCluster();
    applySpec(api, { tags: ["a", "b", "c"] });
    applySpec(api, { tags: ["x"] }, { by: "two" });
    expect(applySpec(api, { tags: ["c", "a", "d"] })["spec"]).toEqual({ tags: ["c", "a", "x", "d"] });
  });

  it("merges the lists of core kinds by their merge keys", () => {
    const { api } = smallCluster();
    const target = { ...PODS, name: "p" };
    const pod = (containers: readonly JsonObject[]) => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p" },
      spec: { containers },
    });
    apply(api, pod([{ name: "a", image: "1" }]), { target });
    const object = apply(api, pod([{ name: "b", image: "2" }]), { target, by: "two" });
    expect(object["spec"]).toEqual({
      containers: [
        { name: "a", image: "1" },
        { name: "b", image: "2" },
      ],
    });
  });

  describe("beside other writes", () => {
    function updated(cluster: SmallCluster, spec: JsonObject): JsonObject {
      const body = { spec };
      return cluster.api.patch(A, { kind: "merge", body }, { ...PATCH, fieldManager: "editor" }).object;
    }

    it("gives a field to whoever writes it, and conflicts with that writer", () => {
      const cluster = smallCluster();
      applySpec(cluster.api, { size: 1, color: "red" });
      expect(managersOf(updated(cluster, { size: 5 }))).toEqual([
        { manager: "one", operation: "Apply", fieldsV1: { "f:spec": { "f:color": {} } } },
        { manager: "editor", operation: "Update", fieldsV1: { "f:spec": { "f:size": {} } } },
      ]);
      expect(refusalText(() => applySpec(cluster.api, { size: 1, color: "red" }))).toBe(
        '409 Conflict: Apply failed with 1 conflict: conflict with "editor" using example.com/v1: .spec.size',
      );
    });

    it("makes no version of an apply that changes nothing, whoever wrote in between", () => {
      const cluster = smallCluster();
      applySpec(cluster.api, { size: 1 });
      const object = updated(cluster, { color: "red" });
      expect(applySpec(cluster.api, { size: 1 })).toBe(object);
    });

    it("keeps an item, with its key, of which another wrote a field", () => {
      const { api } = smallCluster();
      applySpec(api, { parts: [{ name: "p", mass: 1, color: "red" }, { name: "q" }] });
      const heavier = [{ op: "replace", path: "/spec/parts/0/mass", value: 2 }];
      api.patch(A, { kind: "json", body: heavier }, { ...PATCH, fieldManager: "editor" });
      expect(applySpec(api, { parts: [{ name: "q" }] })["spec"]).toEqual({
        parts: [{ name: "p", mass: 2 }, { name: "q" }],
      });
    });

    it("leaves a removed field to nobody", () => {
      const cluster = smallCluster();
      applySpec(cluster.api, { size: 1, color: "red" });
      expect(managersOf(updated(cluster, { color: null }))).toEqual([
        { manager: "one", operation: "Apply", fieldsV1: { "f:spec": { "f:size": {} } } },
      ]);
      expect(applySpec(cluster.api, { size: 1, color: "blue" })["spec"]).toEqual({ size: 1, color: "blue" });
    });

    it("finds what was never applied owned by whoever was there before", () => {
      const { api } = smallCluster();
      api.create(WIDGETS, widget("a", { size: 1, color: "red" }), WRITE);
      expect(api.get(A)).not.toHaveProperty("metadata.managedFields");
      expect(refusalText(() => applySpec(api, { size: 2 }))).toBe(
        '409 Conflict: Apply failed with 1 conflict: conflict with "before-first-apply" using example.com/v1: .spec.size',
      );
      const object = applySpec(api, { size: 1 });
      expect(managersOf(object)).toEqual([
        {
          manager: "before-first-apply",
          operation: "Update",
          fieldsV1: { "f:spec": { "f:color": {}, "f:size": {} } },
        },
        { manager: "one", operation: "Apply", fieldsV1: { "f:spec": { "f:size": {} } } },
      ]);
    });

    it("keeps status and the rest in separate books", () => {
      const { api } = smallCluster();
      applySpec(api, { size: 1 });
      const target = { ...A, subresource: "status" } as const;
      const body = { ...widget("a", { size: 7 }), status: { phase: "Ready" } };
      const object = apply(api, body, { by: "controller", target });
      expect(object).toMatchObject({ spec: { size: 1 }, status: { phase: "Ready" } });
      expect(managersOf(object)).toEqual([
        { manager: "one", operation: "Apply", fieldsV1: { "f:spec": { "f:size": {} } } },
        {
          manager: "controller",
          operation: "Apply",
          subresource: "status",
          fieldsV1: { "f:status": { "f:phase": {} } },
        },
      ]);
      expect(apply(api, { ...widget("a"), status: {} }, { by: "controller", target })["status"]).toEqual({});
    });

    it("removes managedFields when a client empties it", () => {
      const { api } = smallCluster();
      const object = applySpec(api, { size: 1 });
      const emptied = { ...object, metadata: { ...metadataOf(object), managedFields: [{}] } };
      expect(metadataOf(api.update(A, emptied, WRITE).object)).not.toHaveProperty("managedFields");
    });

    it("keeps managedFields when a client leaves it out", () => {
      const { api } = smallCluster();
      const object = applySpec(api, { size: 1 });
      const { managedFields: _, ...metadata } = metadataOf(object);
      expect(api.update(A, { ...object, metadata }, WRITE).object).toBe(object);
    });
  });

  it.each<readonly [string, JsonObject, Options, string]>([
    [
      "no field manager",
      widget("a"),
      { by: "" },
      '422 Invalid: PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    ],
    [
      "another version",
      { ...widget("a"), apiVersion: "example.com/v9" },
      {},
      "400 BadRequest: Incorrect version specified in apply patch. Specified patch version: example.com/v9, expected: example.com/v1",
    ],
    [
      "a book",
      widget("a", {}, { managedFields: [] }),
      {},
      "400 BadRequest: metadata.managedFields must be nil",
    ],
    [
      "another name",
      widget("b"),
      {},
      "400 BadRequest: the name of the object (b) does not match the name on the URL (a)",
    ],
    [
      "another namespace",
      widget("a", {}, { namespace: "other" }),
      {},
      "400 BadRequest: the namespace of the provided object does not match the namespace sent on the request",
    ],
    [
      "a uid where nothing is",
      widget("a", {}, { uid: "u" }),
      {},
      '409 Conflict: Operation cannot be fulfilled on widgets.example.com "a": uid mismatch: the provided object specified uid u, and no existing object was found',
    ],
    [
      "status of nothing",
      widget("a"),
      { target: { ...A, subresource: "status" } },
      '404 NotFound: widgets.example.com "a" not found',
    ],
    [
      "an item twice",
      widget("a", { parts: [{ name: "p" }, { name: "p" }] }),
      {},
      '400 BadRequest: duplicate entries for key [{"name":"p"}]',
    ],
    [
      "what the kind refuses",
      widget("a", { size: "big" }),
      {},
      '422 Invalid: Widget.example.com "a" is invalid: spec.size: Invalid value: "big": must be a number',
    ],
  ])("refuses %s", (_name, body, options, message) => {
    const { api } = smallCluster();
    expect(refusalText(() => apply(api, body, options))).toBe(message);
  });

  it("takes a version in the configuration for a condition", () => {
    const { api } = smallCluster();
    applySpec(api, { size: 1 });
    expect(refusalText(() => apply(api, widget("a", { size: 2 }, { resourceVersion: "1" })))).toContain(
      "409 Conflict",
    );
  });

  it("stores nothing when it is only asked what would happen", () => {
    const { api } = smallCluster();
    const written = api.patch(A, { kind: "apply", body: widget("a") }, { ...PATCH, dryRun: true });
    expect(written.isNew).toBe(true);
    expect(refusalText(() => api.get(A))).toContain("404");
  });
});
