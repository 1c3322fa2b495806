import { deepStrictEqual, strictEqual } from "node:assert";
import { CONFIG_MAPS, type Patch } from "@resource-broker/kube";
import { refused } from "../refused.ts";
import { configMap, type KubePromise, promise, type Setup } from "./kube-promise.ts";

function patchMap({ client, ...setup }: Setup, patch: Patch) {
  return client.patch(CONFIG_MAPS, { name: setup.in("one"), patch });
}

export const PATCHES: readonly KubePromise[] = [
  promise("a merge patch sets, removes with null and replaces lists", async (setup) => {
    await refused(patchMap(setup, { kind: "merge", body: {} }), "not-found");
    const metadata = { labels: { keep: "1", drop: "2" }, finalizers: ["example.com/a", "example.com/b"] };
    const made = configMap(setup, "one", { metadata, data: { a: "1", b: "2" } });
    const { resourceVersion } = (await setup.client.create(CONFIG_MAPS, made)).metadata;
    const body = {
      metadata: { labels: { drop: null, add: "3" }, finalizers: ["example.com/c"] },
      data: { b: null, c: "3" },
    };
    const patched = await patchMap(setup, { kind: "merge", body });
    deepStrictEqual(patched.data, { a: "1", c: "3" });
    deepStrictEqual(patched.metadata.labels, { keep: "1", add: "3" });
    deepStrictEqual(patched.metadata.finalizers, ["example.com/c"]);
    const same = await patchMap(setup, { kind: "merge", body });
    strictEqual(same.metadata.resourceVersion, patched.metadata.resourceVersion);
    const late = patchMap(setup, { kind: "merge", body: { metadata: { resourceVersion }, data: {} } });
    await refused(late, "conflict", /the object has been modified/u);
    const wrong = patchMap(setup, { kind: "merge", body: { data: { "a b": "1" } } });
    await refused(wrong, "invalid", /data\[a b\]/u);
    await patchMap(setup, { kind: "merge", body: { metadata: { finalizers: null } } });
  }),

  promise("a JSON patch does all of its steps, or none", async (setup) => {
    const metadata = { annotations: { "example.com/note": "x" } };
    await setup.client.create(CONFIG_MAPS, configMap(setup, "one", { data: { a: "1", b: "2" }, metadata }));
    const patched = await patchMap(setup, {
      kind: "json",
      body: [
        { op: "test", path: "/data/a", value: "1" },
        { op: "replace", path: "/data/a", value: "9" },
        { op: "add", path: "/data/c", value: "3" },
        { op: "remove", path: "/data/b" },
        { op: "add", path: "/metadata/labels", value: { x: "y" } },
        { op: "replace", path: "/metadata/annotations/example.com~1note", value: "z" },
      ],
    });
    deepStrictEqual(patched.data, { a: "9", c: "3" });
    deepStrictEqual(patched.metadata.annotations, { "example.com/note": "z" });
    deepStrictEqual(patched.metadata.labels, { x: "y" });
    const removal = { op: "remove", path: "/data/c" } as const;
    const failing = [removal, { op: "test", path: "/data/a", value: "3" }] as const;
    await refused(patchMap(setup, { kind: "json", body: failing }), "invalid");
    deepStrictEqual(await setup.client.get(CONFIG_MAPS, setup.in("one")), patched);
    const removed = await patchMap(setup, { kind: "json", body: [removal] });
    deepStrictEqual(removed.data, { a: "9" });
  }),
];
