import { describe, expect, it } from "vitest";
import { StatusError } from "../api/statuses.ts";
import { finalizersOf, type JsonObject, type JsonValue, metadataOf, textOf } from "../json.ts";
import { jsonPatch, mergePatch } from "./patches.ts";
import { strategicPatch } from "./strategic-patch.ts";

function refusalText(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof StatusError)
      return `${error.code} ${textOf(error.status["reason"])}: ${error.message}`;
    throw error;
  }
  return "it was not refused";
}

describe("a merge patch", () => {
  // The examples of RFC 7386, appendix A, whose target and patch are objects.
  it.each<readonly [JsonObject, JsonObject, JsonObject]>([
    [{ a: "b" }, { a: null }, {}],
    [{ a: ["b"] }, { a: "c" }, { a: "c" }],
    [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])("lays %j under %j", (target, patch, expected) => {
    expect(mergePatch(target, patch)).toEqual(expected);
  });

  it("takes names of JavaScript for names", () => {
    const patch = JSON.parse('{"__proto__": {"polluted": true}, "constructor": {"a": 1}}') as JsonObject;
    const merged = mergePatch({}, patch);
    expect(Object.keys(merged)).toEqual(["__proto__", "constructor"]);
    expect(({} as JsonObject)["polluted"]).toBeUndefined();
  });
});

describe("a JSON patch", () => {
  it.each<readonly [string, JsonObject, readonly JsonValue[], JsonObject]>([
    ["adds over a field", { a: 1 }, [{ op: "add", path: "/a", value: null }], { a: null }],
    ["inserts into a list", { a: [1, 3] }, [{ op: "add", path: "/a/1", value: 2 }], { a: [1, 2, 3] }],
    ["appends to a list", { a: [1] }, [{ op: "add", path: "/a/-", value: [2] }], { a: [1, [2]] }],
    ["removes from a list", { a: [1, 2, 3] }, [{ op: "remove", path: "/a/1" }], { a: [1, 3] }],
    ["replaces in a list", { a: [1, 2] }, [{ op: "replace", path: "/a/0", value: 9 }], { a: [9, 2] }],
    [
      "tests, whatever the order of names",
      { a: { x: 1, y: [2] } },
      [{ op: "test", path: "/a", value: { y: [2], x: 1 } }],
      { a: { x: 1, y: [2] } },
    ],
    ["tests for null where nothing is", {}, [{ op: "test", path: "/a", value: null }], {}],
    [
      "reads escaped names",
      { "a/b": 1, "m~n": 2, "~1": 3 },
      [
        { op: "replace", path: "/a~1b", value: 10 },
        { op: "replace", path: "/m~0n", value: 20 },
        { op: "replace", path: "/~01", value: 30 },
      ],
      { "a/b": 10, "m~n": 20, "~1": 30 },
    ],
    ["reads an empty name", { "": 1 }, [{ op: "replace", path: "/", value: 2 }], { "": 2 }],
    ["replaces everything", { a: 1 }, [{ op: "replace", path: "", value: { b: 2 } }], { b: 2 }],
  ])("%s", (_name, object, operations, expected) => {
    expect(jsonPatch(object, operations)).toEqual(expected);
  });

  const misfit = "422 Invalid: the server rejected our request due to an error in our request";
  it.each<readonly [string, JsonValue, string]>([
    ["a test of text for a number", { op: "test", path: "/a", value: "1" }, misfit],
    ["the removal of what is not there", { op: "remove", path: "/x" }, misfit],
    ["the removal of a name of JavaScript", { op: "remove", path: "/constructor" }, misfit],
    ["a place below nothing", { op: "add", path: "/x/y", value: 1 }, misfit],
    ["an index beyond the end", { op: "add", path: "/l/3", value: 1 }, misfit],
    ["an index with a leading zero", { op: "add", path: "/l/01", value: 1 }, misfit],
    ["an index that is none", { op: "add", path: "/l/x", value: 1 }, misfit],
    ["a path without a slash", { op: "add", path: "a", value: 1 }, misfit],
    ["a wrong escape", { op: "add", path: "/~2", value: 1 }, misfit],
    ["no path", { op: "remove" }, misfit],
    ["no value", { op: "add", path: "/x" }, misfit],
    ["an operation it does not know", { op: "shout", path: "/a" }, misfit],
    ["the removal of everything", { op: "remove", path: "" }, misfit],
    ["a list for an object", { op: "replace", path: "", value: [] }, misfit],
    ["what is no operation", 7, "400 BadRequest: error decoding patch: an operation is no object"],
  ])("refuses %s", (_name, operation, message) => {
    const object = { a: 1, l: [1, 2], o: { p: 1 } };
    expect(refusalText(() => jsonPatch(object, [operation]))).toBe(message);
  });
});

describe("a strategic merge patch", () => {
  const keys = { "spec.containers": "name", "spec.containers.ports": "containerPort" };
  const pod = {
    metadata: { finalizers: ["a.b/1"], ownerReferences: [{ uid: "u", name: "o" }] },
    spec: {
      containers: [
        { name: "a", image: "one", ports: [{ containerPort: 80, name: "http" }] },
        { name: "b", image: "two", args: ["x", "y"] },
      ],
      extra: { p: 1, q: 2 },
    },
  };
  const specOf = (patch: JsonObject) => strategicPatch(pod, { spec: patch }, keys)["spec"];

  it.each<readonly [string, JsonObject, JsonObject]>([
    [
      "merges lists within items",
      { containers: [{ name: "a", ports: [{ containerPort: 80, protocol: "TCP" }, { containerPort: 81 }] }] },
      {
        containers: [
          {
            name: "a",
            image: "one",
            ports: [{ containerPort: 80, name: "http", protocol: "TCP" }, { containerPort: 81 }],
          },
          pod.spec.containers[1],
        ],
      } as JsonObject,
    ],
    [
      "deletes an item",
      { containers: [{ name: "a", $patch: "delete" }] },
      { containers: [pod.spec.containers[1]] } as JsonObject,
    ],
    [
      "replaces a list",
      { containers: [{ name: "z" }, { $patch: "replace" }] },
      { containers: [{ name: "z" }] },
    ],
    ["replaces an object", { extra: { $patch: "replace", r: 3 } }, { extra: { r: 3 } }],
    [
      "does not mind the order a client wishes",
      {
        "$setElementOrder/containers": [{ name: "b" }, { name: "a" }],
        containers: [{ name: "b", image: "n" }],
      },
      { containers: [pod.spec.containers[0], { name: "b", image: "n", args: ["x", "y"] }] } as JsonObject,
    ],
  ])("%s", (_name, patch, expected) => {
    expect(specOf(patch)).toEqual({ ...pod.spec, ...expected });
  });

  it("deletes an object and a field", () => {
    expect(specOf({ extra: { $patch: "delete" } })).toEqual({ containers: pod.spec.containers });
    expect(specOf({ containers: null })).toEqual({ extra: pod.spec.extra });
  });

  it("merges finalizers and owners in every kind", () => {
    const patch = {
      metadata: { finalizers: ["a.b/2", "a.b/1"], ownerReferences: [{ uid: "u", blockOwnerDeletion: true }] },
    };
    const merged = strategicPatch(pod, patch, {});
    expect(finalizersOf(merged)).toEqual(["a.b/1", "a.b/2"]);
    expect(metadataOf(merged)["ownerReferences"]).toEqual([
      { uid: "u", name: "o", blockOwnerDeletion: true },
    ]);
  });

  it.each<readonly [string, JsonObject, string]>([
    [
      "a directive it does not know",
      { $shuffle: true },
      "501 NotImplemented: the strategic merge patch directive $shuffle is not supported",
    ],
    [
      "a way to patch it does not know",
      { extra: { $patch: "twist" } },
      "400 BadRequest: Unknown patch type found: twist",
    ],
    [
      "an item without its key",
      { containers: [{ image: "x" }] },
      '400 BadRequest: map: {"image":"x"} does not contain declared merge key: name',
    ],
  ])("refuses %s", (_name, patch, message) => {
    expect(refusalText(() => specOf(patch))).toBe(message);
  });
});
