import { deepStrictEqual, ok, strictEqual } from "node:assert";
import { CONFIG_MAPS, type ConfigMap, NAMESPACES, PODS } from "@resource-broker/kube";
import { until } from "../world/until.ts";
import { refused } from "../refused.ts";
import { configMap, type KubePromise, promise, type Setup, untilGone } from "./kube-promise.ts";
import { pod } from "./shapes.ts";

const HOLD = "example.com/hold";

/** A map that belongs to others. */
function owned(
  { client, ...setup }: Setup,
  name: string,
  { owners, ...metadata }: { readonly owners: readonly ConfigMap[]; readonly finalizers?: readonly string[] },
): Promise<ConfigMap> {
  const ownerReferences = owners.map((owner) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    name: owner.metadata.name,
    uid: owner.metadata.uid ?? "",
    blockOwnerDeletion: true,
  }));
  return client.create(CONFIG_MAPS, configMap(setup, name, { metadata: { ...metadata, ownerReferences } }));
}

/** Takes the finalizers of a map away. */
async function release({ client, ...setup }: Setup, name: string): Promise<void> {
  const body = { metadata: { finalizers: null } };
  await client.patch(CONFIG_MAPS, { name: setup.in(name), patch: { kind: "merge", body } });
}

export const DELETES: readonly KubePromise[] = [
  promise(
    "delete of another object or state than the one meant says conflict",
    async ({ client, ...setup }) => {
      const made = await client.create(CONFIG_MAPS, configMap(setup, "one"));
      const newer = await client.update(CONFIG_MAPS, { ...made, data: { a: "1" } });
      const { uid = "", resourceVersion = "" } = newer.metadata;
      const name = setup.in("one");
      await refused(client.delete(CONFIG_MAPS, name, { uid: "another" }), "conflict", /UID/iu);
      const old = { resourceVersion: made.metadata.resourceVersion ?? "" };
      await refused(client.delete(CONFIG_MAPS, name, old), "conflict", /ResourceVersion/iu);
      await client.delete(CONFIG_MAPS, name, { uid, resourceVersion });
      strictEqual(await client.find(CONFIG_MAPS, name), undefined);
      await refused(client.delete(CONFIG_MAPS, name), "not-found");
    },
  ),

  promise("an object with a finalizer goes when that is taken away", async (setup) => {
    const { client } = setup;
    await client.create(CONFIG_MAPS, configMap(setup, "one", { metadata: { finalizers: [HOLD] } }));
    await client.delete(CONFIG_MAPS, setup.in("one"));
    const held = await client.get(CONFIG_MAPS, setup.in("one"));
    ok(held.metadata.deletionTimestamp !== undefined);
    const finalizers = [HOLD, "example.com/more"];
    const more = client.update(CONFIG_MAPS, { ...held, metadata: { ...held.metadata, finalizers } });
    await refused(more, "invalid", /no new finalizers can be added if the object is being deleted/u);
    const changed = await client.update(CONFIG_MAPS, { ...held, data: { still: "here" } });
    deepStrictEqual(changed.data, { still: "here" });
    await release(setup, "one");
    strictEqual(await client.find(CONFIG_MAPS, setup.in("one")), undefined);
  }),

  promise("what an object owned goes with it, but stays while it has another owner", async (setup) => {
    const { client } = setup;
    const [first, second] = [
      await client.create(CONFIG_MAPS, configMap(setup, "first")),
      await client.create(CONFIG_MAPS, configMap(setup, "second")),
    ];
    const child = await owned(setup, "child", { owners: [first, second] });
    await owned(setup, "grandchild", { owners: [child] });
    await client.delete(CONFIG_MAPS, setup.in("first"));
    const left = await until("the first owner is forgotten", async () => {
      const { metadata } = await client.get(CONFIG_MAPS, setup.in("child"));
      return metadata.ownerReferences?.length === 1 ? metadata.ownerReferences : undefined;
    });
    deepStrictEqual(
      left.map(({ name }) => name),
      ["second"],
    );
    await client.delete(CONFIG_MAPS, setup.in("second"));
    for (const name of ["child", "grandchild"]) await untilGone(client, CONFIG_MAPS, setup.in(name));
  }),

  promise("what belongs to nobody that is there is collected", async (setup) => {
    const owner = await setup.client.create(CONFIG_MAPS, configMap(setup, "owner"));
    const uid = "00000000-0000-0000-0000-000000000000";
    await owned(setup, "child", { owners: [{ metadata: { ...owner.metadata, uid } }] });
    await untilGone(setup.client, CONFIG_MAPS, setup.in("child"));
    await setup.client.get(CONFIG_MAPS, setup.in("owner"));
  }),

  promise("a namespace goes when it is empty, and takes nothing in meanwhile", async (setup) => {
    const { client, namespace } = setup;
    await client.create(CONFIG_MAPS, configMap(setup, "held", { metadata: { finalizers: [HOLD] } }));
    await client.create(CONFIG_MAPS, configMap(setup, "free"));
    await client.delete(NAMESPACES, { name: namespace });
    await untilGone(client, CONFIG_MAPS, setup.in("free"));
    const { status } = await client.get(NAMESPACES, { name: namespace });
    strictEqual(status?.phase, "Terminating");
    const late = client.create(CONFIG_MAPS, configMap(setup, "late"));
    await refused(late, "forbidden", /because it is being terminated/u);
    await release(setup, "held");
    await untilGone(client, NAMESPACES, { name: namespace });
  }),

  promise(
    "a pod that no node runs goes at once, one that runs is given time",
    async ({ client, ...setup }) => {
      await client.create(PODS, pod(setup, "waiting"));
      await client.create(PODS, pod(setup, "placed", { nodeName: "somewhere" }));
      await client.delete(PODS, setup.in("waiting"));
      strictEqual(await client.find(PODS, setup.in("waiting")), undefined);
      await client.delete(PODS, setup.in("placed"));
      const { metadata } = await client.get(PODS, setup.in("placed"));
      ok(
        metadata !== undefined && "deletionTimestamp" in metadata && "deletionGracePeriodSeconds" in metadata,
      );
      strictEqual(metadata.deletionGracePeriodSeconds, 30);
    },
  ),
];
