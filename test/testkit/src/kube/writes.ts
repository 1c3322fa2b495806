import { deepStrictEqual, notStrictEqual, ok, strictEqual } from "node:assert";
import { CONFIG_MAPS, type ConfigMap, LEASES, NODES, PODS } from "@resource-broker/kube";
import type { Node } from "@resource-broker/kube/testing";
import { refused } from "../refused.ts";
import { configMap, type KubePromise, promise } from "./kube-promise.ts";
import { container, pod } from "./shapes.ts";

const MORE_THAN_A_MEBIBYTE = 1024 * 1024 + 1;
const RIVALS = 6;

export const WRITES: readonly KubePromise[] = [
  promise("create needs a free name in a namespace that is there", async ({ client, ...setup }) => {
    await client.create(CONFIG_MAPS, configMap(setup, "one"));
    const again = client.create(CONFIG_MAPS, configMap(setup, "one"));
    await refused(again, "already-exists", /configmaps "one" already exists/u);
    const lost = client.create(CONFIG_MAPS, configMap({ namespace: "nowhere-at-all" }, "one"));
    await refused(lost, "not-found", /namespaces "nowhere-at-all" not found/u);
  }),

  promise("create chooses a name where only its beginning is given", async ({ client, ...setup }) => {
    const metadata = { generateName: "some-", namespace: setup.namespace };
    // Our types want names everywhere else.
    const create = () => client.create(CONFIG_MAPS, { metadata } as unknown as ConfigMap);
    const [{ metadata: first }, { metadata: second }] = [await create(), await create()];
    ok(/^some-[a-z0-9]{5}$/u.test(first.name), `${first.name} begins with some-`);
    notStrictEqual(first.name, second.name);
  }),

  promise("a dry run judges and stores nothing", async ({ client, ...setup }) => {
    const dryRun = true;
    const made = await client.create(CONFIG_MAPS, configMap(setup, "ghost"), { dryRun });
    ok(made.metadata.uid !== undefined);
    strictEqual(await client.find(CONFIG_MAPS, setup.in("ghost")), undefined);
    await refused(client.create(PODS, pod(setup, "Ghost"), { dryRun }), "invalid", /metadata\.name/u);
    const real = await client.create(CONFIG_MAPS, configMap(setup, "real", { data: { a: "1" } }));
    const updated = await client.update(CONFIG_MAPS, { ...real, data: { a: "2" } }, { dryRun });
    deepStrictEqual(updated.data, { a: "2" });
    deepStrictEqual(await client.get(CONFIG_MAPS, setup.in("real")), real);
  }),

  promise("of many updates of one version exactly one wins", async ({ client, other, ...setup }) => {
    const old = await client.create(CONFIG_MAPS, configMap(setup, "one", { data: { a: "1" } }));
    const tries = Array.from({ length: RIVALS }, (_, index) =>
      (index % 2 === 0 ? client : other).update(CONFIG_MAPS, { ...old, data: { by: String(index) } }),
    );
    const ends = await Promise.allSettled(tries);
    const winners = ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
    strictEqual(winners.length, 1);
    for (const end of ends) {
      if (end.status === "fulfilled") continue;
      await refused(Promise.reject(end.reason as Error), "conflict", /the object has been modified/u);
    }
    deepStrictEqual(await client.get(CONFIG_MAPS, setup.in("one")), winners[0]);
  }),

  promise("update without a version replaces what is there, and creates nothing", async (setup) => {
    const { client } = setup;
    await refused(client.update(CONFIG_MAPS, configMap(setup, "one")), "not-found");
    const made = await client.create(CONFIG_MAPS, configMap(setup, "one", { data: { a: "1" } }));
    const updated = await client.update(CONFIG_MAPS, configMap(setup, "one", { data: { b: "2" } }));
    deepStrictEqual([updated.data, updated.metadata.uid], [{ b: "2" }, made.metadata.uid]);
    const same = await client.update(CONFIG_MAPS, updated);
    strictEqual(same.metadata.resourceVersion, updated.metadata.resourceVersion);
    const uid = "00000000-0000-0000-0000-000000000000";
    const another = client.update(CONFIG_MAPS, configMap(setup, "one", { metadata: { uid } }));
    await refused(another, "conflict", /UID/iu);
  }),

  promise("update of a lease must name a version", async ({ client, ...setup }) => {
    const lease = { metadata: setup.in("leader"), spec: { holderIdentity: "a", leaseDurationSeconds: 15 } };
    const made = await client.create(LEASES, lease);
    strictEqual(made.spec?.holderIdentity, "a");
    await refused(client.update(LEASES, lease), "invalid", /metadata\.resourceVersion/u);
  }),

  promise("what the server decides cannot be written", async ({ client, ...setup }) => {
    const metadata = { uid: "mine", creationTimestamp: "2001-01-01T00:00:00Z", generation: 7 };
    const made = await client.create(CONFIG_MAPS, configMap(setup, "one", { metadata }));
    notStrictEqual(made.metadata.uid, metadata.uid);
    notStrictEqual(made.metadata.creationTimestamp, metadata.creationTimestamp);
    const version = configMap(setup, "two", { metadata: { resourceVersion: "1" } });
    await refused(client.create(CONFIG_MAPS, version), "overloaded", /resourceVersion should not be set/u);
    const odd = await client.create(CONFIG_MAPS, { ...configMap(setup, "odd"), wings: 2 } as ConfigMap);
    ok(!("wings" in odd), "unknown fields are not kept");
  }),

  promise("status and the rest are written on paths of their own", async ({ client, ...setup }) => {
    const made = await client.create(PODS, { ...pod(setup, "one"), status: { phase: "Running" } });
    strictEqual(made.status?.phase, "Pending");
    const other = pod(setup, "one", { containers: [container("main", {}, { image: "example/app:2" })] });
    const labels = { a: "1" };
    const status = { phase: "Running" };
    const report = { ...made, metadata: { ...made.metadata, labels }, spec: other.spec, status };
    const reported = await client.update(PODS, report, { subresource: "status" });
    deepStrictEqual([reported.status?.phase, reported.spec], ["Running", made.spec]);
    deepStrictEqual(reported.metadata?.labels, labels);
    const changed = await client.update(PODS, { ...reported, status: { phase: "Failed" } });
    strictEqual(changed.status?.phase, "Running");
  }),

  promise("a node is registered with its status, and reports on its own path later", async (setup) => {
    const { client, unique } = setup;
    const name = unique("node");
    const status = { capacity: { cpu: "4" }, allocatable: { cpu: "4" } };
    const made = await client.create(NODES, { metadata: { name }, status } satisfies Node);
    deepStrictEqual(made.status?.allocatable, { cpu: "4" });
    const body = { status: { allocatable: { cpu: "3500m" } } };
    const change = { name: { name }, patch: { kind: "merge", body } } as const;
    strictEqual((await client.patch(NODES, change)).status?.allocatable?.["cpu"], "4");
    const reported = await client.patch(NODES, change, { subresource: "status" });
    strictEqual(reported.status?.allocatable?.["cpu"], "3500m");
    await client.delete(NODES, { name });
  }),

  promise("what must not change is refused, with the field", async ({ client, ...setup }) => {
    const immutable = configMap(setup, "sealed", { data: { a: "1" }, immutable: true });
    const sealed = await client.create(CONFIG_MAPS, immutable);
    const broken = client.update(CONFIG_MAPS, { ...sealed, data: { a: "2" } });
    await refused(broken, "invalid", /data: Forbidden: field is immutable when `immutable` is set/u);
  }),

  promise("quantities are kept in one way of writing", async ({ client, ...setup }) => {
    const requests = { cpu: "0.5", memory: "1024Mi", "ephemeral-storage": "1e6" };
    const made = await client.create(PODS, pod(setup, "one", { containers: [container("main", requests)] }));
    const [first] = made.spec?.containers ?? [];
    deepStrictEqual(first?.resources?.requests, { cpu: "500m", memory: "1Gi", "ephemeral-storage": "1e6" });
  }),

  promise("an object that is too large is refused", async ({ client, ...setup }) => {
    const data = { a: "x".repeat(MORE_THAN_A_MEBIBYTE) };
    await refused(client.create(CONFIG_MAPS, configMap(setup, "big", { data })), "invalid", /Too long/u);
  }),
];
