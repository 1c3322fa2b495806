import { deepStrictEqual, notStrictEqual, ok, strictEqual } from "node:assert";
import { CONFIG_MAPS, type ConfigMap, LEASES, NODES, PODS, SECRETS } from "@resource-broker/kube";
import { type Node, SERVICES } from "@resource-broker/kube/testing";
import { configMap, type KubePromise, promise, refused } from "./kube-promise.ts";
import { container, pod } from "./shapes.ts";

const ELSEWHERE = "nowhere-at-all";
const MORE_THAN_A_MEBIBYTE = 1024 * 1024 + 1;
const RIVALS = 6;

export const WRITES: readonly KubePromise[] = [
  promise("create gives back what was stored", async ({ client, ...setup }) => {
    const made = await client.create(CONFIG_MAPS, configMap(setup, "one", { data: { a: "1" } }));
    deepStrictEqual(made, await client.get(CONFIG_MAPS, setup.in("one")));
  }),

  promise("create of a name that is taken says already-exists", async ({ client, ...setup }) => {
    await client.create(CONFIG_MAPS, configMap(setup, "one"));
    const again = client.create(CONFIG_MAPS, configMap(setup, "one"));
    await refused(again, "already-exists", /configmaps "one" already exists/u);
  }),

  promise("create chooses a name where only its beginning is given", async ({ client, ...setup }) => {
    const metadata = { generateName: "some-", namespace: setup.namespace };
    // Our types want names everywhere else.
    const nameless = { metadata } as unknown as ConfigMap;
    const [first, second] = [
      await client.create(CONFIG_MAPS, nameless),
      await client.create(CONFIG_MAPS, nameless),
    ];
    ok(/^some-[a-z0-9]{5}$/u.test(first.metadata.name), `${first.metadata.name} begins with some-`);
    notStrictEqual(first.metadata.name, second.metadata.name);
    await client.get(CONFIG_MAPS, setup.in(first.metadata.name));
  }),

  promise("create in a namespace that is not there says so", async ({ client }) => {
    const lost = { metadata: { name: "one", namespace: ELSEWHERE } };
    await refused(client.create(CONFIG_MAPS, lost), "not-found", /namespaces "nowhere-at-all" not found/u);
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

  promise("update replaces the whole object", async ({ client, ...setup }) => {
    const made = await client.create(CONFIG_MAPS, configMap(setup, "one", { data: { a: "1", b: "2" } }));
    const updated = await client.update(CONFIG_MAPS, { metadata: made.metadata, data: { c: "3" } });
    deepStrictEqual(updated.data, { c: "3" });
    strictEqual(updated.metadata.uid, made.metadata.uid);
    ok(Number(updated.metadata.resourceVersion) > Number(made.metadata.resourceVersion));
  }),

  promise(
    "update with a version that is not the newest says conflict",
    async ({ client, other, ...setup }) => {
      const old = await client.create(CONFIG_MAPS, configMap(setup, "one"));
      await other.update(CONFIG_MAPS, { ...old, data: { by: "other" } });
      const late = client.update(CONFIG_MAPS, { ...old, data: { by: "client" } });
      await refused(late, "conflict", /the object has been modified/u);
      deepStrictEqual((await client.get(CONFIG_MAPS, setup.in("one"))).data, { by: "other" });
    },
  ),

  promise("of many updates of one version exactly one wins", async ({ client, other, ...setup }) => {
    const old = await client.create(CONFIG_MAPS, configMap(setup, "one"));
    const tries = Array.from({ length: RIVALS }, (_, index) =>
      (index % 2 === 0 ? client : other).update(CONFIG_MAPS, { ...old, data: { by: String(index) } }),
    );
    const ends = await Promise.allSettled(tries);
    const winners = ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
    strictEqual(winners.length, 1);
    for (const [index, end] of ends.entries()) {
      if (end.status === "rejected") await refused(Promise.reject(end.reason as Error), "conflict");
      else deepStrictEqual(end.value.data, { by: String(index) });
    }
    deepStrictEqual(await client.get(CONFIG_MAPS, setup.in("one")), winners[0]);
  }),

  promise("update without a version replaces whatever is there", async ({ client, ...setup }) => {
    await client.create(CONFIG_MAPS, configMap(setup, "one", { data: { a: "1" } }));
    const updated = await client.update(CONFIG_MAPS, configMap(setup, "one", { data: { a: "2" } }));
    deepStrictEqual(updated.data, { a: "2" });
  }),

  promise("update of a lease must name a version, or create it", async ({ client, ...setup }) => {
    const lease = { metadata: setup.in("leader"), spec: { holderIdentity: "a", leaseDurationSeconds: 15 } };
    const made = await client.update(LEASES, lease);
    strictEqual(made.spec?.holderIdentity, "a");
    await refused(client.update(LEASES, lease), "invalid", /metadata\.resourceVersion/u);
  }),

  promise("update of what is not there says not-found", async ({ client, ...setup }) => {
    await refused(client.update(CONFIG_MAPS, configMap(setup, "none")), "not-found");
  }),

  promise("update of another object of the same name says conflict", async ({ client, ...setup }) => {
    const first = await client.create(CONFIG_MAPS, configMap(setup, "one"));
    await client.delete(CONFIG_MAPS, setup.in("one"));
    await client.create(CONFIG_MAPS, configMap(setup, "one"));
    const { uid = "" } = first.metadata;
    await refused(
      client.update(CONFIG_MAPS, configMap(setup, "one", { metadata: { uid } })),
      "conflict",
      /UID/iu,
    );
  }),

  promise("an update that changes nothing leaves the version as it is", async ({ client, ...setup }) => {
    const made = await client.create(CONFIG_MAPS, configMap(setup, "one", { data: { a: "1" } }));
    const { metadata } = await client.update(CONFIG_MAPS, made);
    strictEqual(metadata.resourceVersion, made.metadata.resourceVersion);
  }),

  promise("what the server decides cannot be written", async ({ client, ...setup }) => {
    const metadata = { uid: "mine", creationTimestamp: "2001-01-01T00:00:00Z", generation: 7 };
    const made = await client.create(CONFIG_MAPS, configMap(setup, "one", { metadata }));
    notStrictEqual(made.metadata.uid, metadata.uid);
    notStrictEqual(made.metadata.creationTimestamp, metadata.creationTimestamp);
    const version = configMap(setup, "two", { metadata: { resourceVersion: "1" } });
    await refused(client.create(CONFIG_MAPS, version), "overloaded", /resourceVersion should not be set/u);
  }),

  promise("status and the rest are written on paths of their own", async ({ client, ...setup }) => {
    const made = await client.create(PODS, { ...pod(setup, "one"), status: { phase: "Running" } });
    strictEqual(made.status?.phase, "Pending");
    const other = pod(setup, "one", { containers: [container("main", {}, { image: "example/app:2" })] });
    const reported = await client.update(
      PODS,
      { ...made, spec: other.spec, status: { phase: "Running" } },
      { subresource: "status" },
    );
    deepStrictEqual([reported.status?.phase, reported.spec], ["Running", made.spec]);
    const metadata = { ...reported.metadata, labels: { a: "1" } };
    const changed = await client.update(PODS, { ...reported, metadata, status: { phase: "Failed" } });
    deepStrictEqual([changed.status?.phase, changed.metadata?.labels], ["Running", { a: "1" }]);
  }),

  promise("labels of built-in kinds can be written with their status", async ({ client, ...setup }) => {
    const { metadata, ...made } = await client.create(PODS, pod(setup, "one"));
    const labelled = { ...made, metadata: { ...metadata, labels: { a: "1" } } };
    const reported = await client.update(PODS, labelled, { subresource: "status" });
    deepStrictEqual(reported.metadata?.labels, { a: "1" });
  }),

  promise(
    "a node is registered with its status, and reports on its own path later",
    async ({ client, unique }) => {
      const name = unique("node");
      const node: Node = {
        metadata: { name },
        status: { capacity: { cpu: "4" }, allocatable: { cpu: "4" } },
      };
      const made = await client.create(NODES, node);
      deepStrictEqual(made.status?.allocatable, { cpu: "4" });
      const body = { status: { allocatable: { cpu: "3500m" } } };
      const change = { name: { name }, patch: { kind: "strategic", body } } as const;
      strictEqual((await client.patch(NODES, change)).status?.allocatable?.["cpu"], "4");
      const reported = await client.patch(NODES, change, { subresource: "status" });
      strictEqual(reported.status?.allocatable?.["cpu"], "3500m");
      await client.delete(NODES, { name });
    },
  ),

  promise("what must not change is refused, with the field", async ({ client, ...setup }) => {
    const placed = await client.create(PODS, pod(setup, "one", { nodeName: "here" }));
    const moved = client.update(PODS, { ...placed, spec: { ...placed.spec, nodeName: "there" } });
    await refused(moved, "invalid", /pod updates may not change fields other than/u);
    const sealed = await client.create(
      CONFIG_MAPS,
      configMap(setup, "sealed", { data: { a: "1" }, immutable: true }),
    );
    const broken = client.update(CONFIG_MAPS, { ...sealed, data: { a: "2" } });
    await refused(broken, "invalid", /data: Forbidden: field is immutable when `immutable` is set/u);
  }),

  promise("quantities are kept in one way of writing", async ({ client, ...setup }) => {
    const requests = { cpu: "0.5", memory: "1024Mi", "ephemeral-storage": "1e6" };
    const resources = { requests };
    const made = await client.create(
      PODS,
      pod(setup, "one", { containers: [{ name: "main", image: "i", resources }] }),
    );
    const [first] = made.spec?.containers ?? [];
    deepStrictEqual(first?.resources?.requests, { cpu: "500m", memory: "1Gi", "ephemeral-storage": "1e6" });
  }),

  promise("a secret takes plain text and gives base64", async ({ client, ...setup }) => {
    const stringData = { pin: "1234" };
    const made = await client.create(SECRETS, { metadata: setup.in("keys"), stringData });
    const { data, stringData: kept, type } = made;
    deepStrictEqual([data, kept, type], [{ pin: "MTIzNA==" }, undefined, "Opaque"]);
  }),

  promise("a service gets an address of its own", async ({ client, ...setup }) => {
    const ports = [{ port: 80, targetPort: "http" }];
    const { spec } = await client.create(SERVICES, { metadata: setup.in("shop"), spec: { ports } });
    ok(/^\d+\.\d+\.\d+\.\d+$/u.test(spec?.clusterIP ?? ""), `${spec?.clusterIP} is no address`);
    deepStrictEqual(
      [spec?.type, spec?.ports],
      ["ClusterIP", [{ port: 80, protocol: "TCP", targetPort: "http" }]],
    );
  }),

  promise("unknown fields are not kept", async ({ client, ...setup }) => {
    const odd = { ...configMap(setup, "one"), wings: 2 };
    const made = await client.create(CONFIG_MAPS, odd);
    ok(!("wings" in made), "it has wings");
  }),

  promise("an object that is too large is refused", async ({ client, ...setup }) => {
    const data = { a: "x".repeat(MORE_THAN_A_MEBIBYTE) };
    await refused(client.create(CONFIG_MAPS, configMap(setup, "big", { data })), "invalid", /Too long/u);
  }),
];
