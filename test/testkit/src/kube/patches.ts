import { deepStrictEqual, strictEqual } from "node:assert";
import { CONFIG_MAPS, type Patch, PODS } from "@resource-broker/kube";
import { SERVICES } from "@resource-broker/kube/testing";
import { configMap, type KubePromise, promise, refused, type Setup } from "./kube-promise.ts";
import { pod } from "./shapes.ts";

function patchMap({ client, ...setup }: Setup, patch: Patch) {
  return client.patch(CONFIG_MAPS, { name: setup.in("one"), patch });
}

export const PATCHES: readonly KubePromise[] = [
  promise("a merge patch sets, removes with null and replaces lists", async (setup) => {
    const metadata = { labels: { keep: "1", drop: "2" }, finalizers: ["example.com/a", "example.com/b"] };
    await setup.client.create(CONFIG_MAPS, configMap(setup, "one", { metadata, data: { a: "1", b: "2" } }));
    const body = {
      metadata: { labels: { drop: null, add: "3" }, finalizers: ["example.com/c"] },
      data: { b: null, c: "3" },
    };
    const patched = await patchMap(setup, { kind: "merge", body });
    deepStrictEqual(patched.data, { a: "1", c: "3" });
    deepStrictEqual(patched.metadata.labels, { keep: "1", add: "3" });
    deepStrictEqual(patched.metadata.finalizers, ["example.com/c"]);
    await patchMap(setup, { kind: "merge", body: { metadata: { finalizers: null } } });
  }),

  promise("a JSON patch adds, removes, replaces, moves, copies and tests", async (setup) => {
    await setup.client.create(
      CONFIG_MAPS,
      configMap(setup, "one", {
        data: { a: "1", b: "2" },
        metadata: { annotations: { "example.com/note": "x" } },
      }),
    );
    const patched = await patchMap(setup, {
      kind: "json",
      body: [
        { op: "test", path: "/data/a", value: "1" },
        { op: "replace", path: "/data/a", value: "9" },
        { op: "copy", from: "/data/a", path: "/data/copy" },
        { op: "move", from: "/data/b", path: "/data/moved" },
        { op: "add", path: "/metadata/labels", value: { x: "y" } },
        { op: "replace", path: "/metadata/annotations/example.com~1note", value: "z" },
      ],
    });
    deepStrictEqual(patched.data, { a: "9", copy: "9", moved: "2" });
    deepStrictEqual(patched.metadata.annotations, { "example.com/note": "z" });
    deepStrictEqual(patched.metadata.labels, { x: "y" });
    const removed = await patchMap(setup, { kind: "json", body: [{ op: "remove", path: "/data/moved" }] });
    deepStrictEqual(removed.data, { a: "9", copy: "9" });
  }),

  promise("a JSON patch whose test fails changes nothing", async (setup) => {
    const made = await setup.client.create(CONFIG_MAPS, configMap(setup, "one", { data: { a: "1" } }));
    const failing = patchMap(setup, {
      kind: "json",
      body: [
        { op: "replace", path: "/data/a", value: "2" },
        { op: "test", path: "/data/a", value: "3" },
      ],
    });
    await refused(failing, "invalid");
    deepStrictEqual(await setup.client.get(CONFIG_MAPS, setup.in("one")), made);
  }),

  promise("a JSON patch of a path that is not there is refused", async (setup) => {
    await setup.client.create(CONFIG_MAPS, configMap(setup, "one"));
    await refused(patchMap(setup, { kind: "json", body: [{ op: "remove", path: "/data/none" }] }), "invalid");
  }),

  promise("a strategic patch merges lists by their keys", async ({ client, ...setup }) => {
    const ports = [
      { name: "http", port: 80 },
      { name: "https", port: 443 },
    ];
    const name = setup.in("shop");
    await client.create(SERVICES, { metadata: name, spec: { ports } });
    const change = (each: readonly object[]) =>
      client.patch(SERVICES, { name, patch: { kind: "strategic", body: { spec: { ports: each } } } });
    const merged = await change([
      { port: 443, targetPort: 8443 },
      { port: 22, name: "ssh" },
    ]);
    const shown = (merged.spec?.ports ?? []).map(({ port, targetPort }) => [port, targetPort]);
    deepStrictEqual(
      new Map(shown as [number, number][]),
      new Map([
        [80, 80],
        [443, 8443],
        [22, 22],
      ]),
    );
    const fewer = await change([{ port: 22, $patch: "delete" }]);
    deepStrictEqual(new Set(fewer.spec?.ports?.map(({ port }) => port)), new Set([443, 80]));
    const all = [{ port: 8080, name: "only" }, { $patch: "replace" }];
    deepStrictEqual(
      ((await change(all)).spec?.ports ?? []).map(({ port }) => port),
      [8080],
    );
  }),

  promise("a strategic patch names a pod's container", async ({ client, ...setup }) => {
    const containers = ["a", "b"].map((name) => ({ name, image: "example/app:1" }));
    const made = await client.create(PODS, pod(setup, "one", { containers }));
    const body = { spec: { containers: [{ name: "b", image: "example/app:2" }] } };
    const patched = await client.patch(PODS, { name: setup.in("one"), patch: { kind: "strategic", body } });
    const images = (patched.spec?.containers ?? []).map((each) => ("image" in each ? each.image : ""));
    deepStrictEqual(images, ["example/app:1", "example/app:2"]);
    strictEqual(patched.metadata?.uid, made.metadata?.uid);
  }),

  promise("a patch with an old version says conflict", async (setup) => {
    const old = await setup.client.create(CONFIG_MAPS, configMap(setup, "one"));
    await patchMap(setup, { kind: "merge", body: { data: { a: "1" } } });
    const { resourceVersion } = old.metadata;
    const late = patchMap(setup, {
      kind: "merge",
      body: { metadata: { resourceVersion }, data: { a: "2" } },
    });
    await refused(late, "conflict", /the object has been modified/u);
  }),

  promise("a patch of what is not there says not-found", async (setup) => {
    await refused(patchMap(setup, { kind: "merge", body: {} }), "not-found");
  }),

  promise("a patch that changes nothing leaves the version as it is", async (setup) => {
    const made = await setup.client.create(CONFIG_MAPS, configMap(setup, "one", { data: { a: "1" } }));
    const patched = await patchMap(setup, { kind: "merge", body: { data: { a: "1" } } });
    strictEqual(patched.metadata.resourceVersion, made.metadata.resourceVersion);
  }),

  promise("a patch that makes an object wrong is refused", async (setup) => {
    await setup.client.create(CONFIG_MAPS, configMap(setup, "one"));
    await refused(
      patchMap(setup, { kind: "merge", body: { data: { "a b": "1" } } }),
      "invalid",
      /data\[a b\]/u,
    );
  }),
];
