import { deepStrictEqual, ok, strictEqual } from "node:assert";
import { CONFIG_MAPS, EVENTS, PODS, SECRETS } from "@resource-broker/kube";
import {
  configMap,
  type KubePromise,
  listed,
  namesOf,
  promise,
  raw,
  refused,
  type Setup,
} from "./kube-promise.ts";
import { pod } from "./shapes.ts";

/** How many objects a page, and a whole list, hold here. */
const [PAGE, ALL] = [3, 7];

async function createMaps(setup: Setup, count = ALL): Promise<string[]> {
  const names = Array.from({ length: count }, (_, index) => `map-${index}`);
  for (const name of names) await setup.client.create(CONFIG_MAPS, configMap(setup, name));
  return names;
}

interface RawList {
  readonly metadata: { readonly continue?: string; readonly remainingItemCount?: number };
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
}

/** Objects that labels tell apart. */
const LABELLED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "gold-a": { tier: "gold", zone: "a" },
  "gold-b": { tier: "gold", zone: "b" },
  silver: { tier: "silver" },
  plain: {},
};

const SELECTORS: readonly (readonly [selector: string, names: readonly string[]])[] = [
  ["tier=gold", ["gold-a", "gold-b"]],
  ["tier==gold,zone=a", ["gold-a"]],
  ["tier!=gold", ["plain", "silver"]],
  ["tier", ["gold-a", "gold-b", "silver"]],
  ["!tier", ["plain"]],
  ["tier in (silver, bronze)", ["silver"]],
  ["tier notin (gold)", ["plain", "silver"]],
  ["tier,!zone", ["silver"]],
  ["zone=", []],
];

export const READS: readonly KubePromise[] = [
  promise("get gives an object with what the server adds", async ({ client, ...setup }) => {
    await client.create(CONFIG_MAPS, configMap(setup, "one", { data: { a: "1" } }));
    const { data, metadata, kind } = await client.get(CONFIG_MAPS, setup.in("one"));
    deepStrictEqual(
      [data, metadata.name, metadata.namespace, kind],
      [{ a: "1" }, "one", setup.namespace, "ConfigMap"],
    );
    ok(/^[-0-9a-f]{36}$/u.test(metadata.uid ?? ""), `${metadata.uid} is no uid`);
    ok(/^\d+$/u.test(metadata.resourceVersion ?? ""), `${metadata.resourceVersion} is no version`);
    ok(
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/u.test(metadata.creationTimestamp ?? ""),
      "it was created some time",
    );
  }),

  promise("find gives nothing where get says not-found", async ({ client, ...setup }) => {
    strictEqual(await client.find(CONFIG_MAPS, setup.in("none")), undefined);
    await refused(client.get(CONFIG_MAPS, setup.in("none")), "not-found", /configmaps "none" not found/u);
  }),

  promise("a list in pages is the list in one piece", async (setup) => {
    const { client, namespace } = setup;
    const names = await createMaps(setup);
    const query = { namespace, fieldSelector: "metadata.name!=kube-root-ca.crt" };
    const whole: string[] = [];
    const paged: string[] = [];
    const end = await client.list(CONFIG_MAPS, query, ({ metadata }) => void whole.push(metadata.name));
    await client.list(
      CONFIG_MAPS,
      { ...query, pageSize: PAGE },
      ({ metadata }) => void paged.push(metadata.name),
    );
    deepStrictEqual(whole, names);
    deepStrictEqual(paged, names);
    strictEqual(end.count, ALL);
    ok(/^\d+$/u.test(end.resourceVersion), `${end.resourceVersion} is no version`);
  }),

  promise("objects of lists are those that get gives", async (setup) => {
    const { client, namespace } = setup;
    await client.create(CONFIG_MAPS, configMap(setup, "one", { data: { a: "1" } }));
    const [found] = await listed(client, CONFIG_MAPS, { namespace, fieldSelector: "metadata.name=one" });
    const { kind, apiVersion, ...rest } = await client.get(CONFIG_MAPS, setup.in("one"));
    deepStrictEqual([kind, apiVersion], ["ConfigMap", "v1"]);
    deepStrictEqual(found, rest);
  }),

  promise("a later page is of the moment of the first one", async (setup) => {
    const { client, namespace } = setup;
    await createMaps(setup);
    const path = `/api/v1/namespaces/${namespace}/configmaps?limit=${PAGE}&labelSelector=`;
    const first = (await client.read(path)) as RawList;
    await client.create(CONFIG_MAPS, configMap(setup, "zz-late"));
    await client.delete(CONFIG_MAPS, setup.in("map-6"));
    const token = encodeURIComponent(first.metadata.continue ?? "");
    const second = (await client.read(`${path}&continue=${token}`)) as RawList;
    const rest = (await client.read(
      `${path}&continue=${encodeURIComponent(second.metadata.continue ?? "")}`,
    )) as RawList;
    const names = namesOf([...first.items, ...second.items, ...rest.items]);
    ok(names.includes("map-6"), `map-6 was there at first: ${names.join()}`);
    ok(!names.includes("zz-late"), `zz-late was not there at first: ${names.join()}`);
    strictEqual(first.items.length, PAGE);
    strictEqual(typeof first.metadata.remainingItemCount, "number");
    strictEqual(rest.metadata.continue, undefined);
  }),

  promise("label selectors select", async (setup) => {
    const { client, namespace } = setup;
    for (const [name, labels] of Object.entries(LABELLED)) {
      await client.create(SECRETS, { metadata: { name, namespace, labels } });
    }
    for (const [labelSelector, names] of SELECTORS) {
      const found = await listed(client, SECRETS, { namespace, labelSelector, pageSize: 1 });
      deepStrictEqual([labelSelector, ...namesOf(found)], [labelSelector, ...names]);
    }
  }),

  promise("field selectors select what is served as selectable", async (setup) => {
    const { client, namespace } = setup;
    await client.create(PODS, pod(setup, "placed", { nodeName: "somewhere" }));
    await client.create(PODS, pod(setup, "waiting"));
    await client.create(SECRETS, { metadata: setup.in("own"), type: "example.com/own" });
    await client.create(SECRETS, { metadata: setup.in("other") });
    const involvedObject = { kind: "Pod", namespace, name: "placed" };
    await client.create(EVENTS, { metadata: setup.in("event"), involvedObject, reason: "Tested" });
    const pods = async (fieldSelector: string) =>
      namesOf(await listed(client, PODS, { namespace, fieldSelector }));
    deepStrictEqual(await pods("spec.nodeName=somewhere"), ["placed"]);
    deepStrictEqual(await pods("spec.nodeName="), ["waiting"]);
    deepStrictEqual(await pods("status.phase=Pending,metadata.name!=placed"), ["waiting"]);
    deepStrictEqual(await pods("status.phase!=Pending"), []);
    const secrets = await listed(client, SECRETS, { namespace, fieldSelector: "type=example.com/own" });
    deepStrictEqual(namesOf(secrets), ["own"]);
    const about = "involvedObject.kind=Pod,involvedObject.name=placed,reason=Tested";
    deepStrictEqual(namesOf(await listed(client, EVENTS, { namespace, fieldSelector: about })), ["event"]);
    const everywhere = { fieldSelector: `metadata.namespace=${namespace},metadata.name=placed` };
    deepStrictEqual(namesOf(await listed(client, PODS, everywhere)), ["placed"]);
  }),

  promise(
    "selectors that cannot be read or served are refused, never ignored",
    async ({ client, namespace }) => {
      const list = (query: object) => client.list(PODS, { namespace, ...query }, () => undefined);
      await refused(list({ labelSelector: "tier in gold" }), "invalid", /unable to parse requirement/u);
      await refused(
        list({ fieldSelector: "spec.hostname=x" }),
        "invalid",
        /field label not supported: spec\.hostname/u,
      );
      await refused(
        list({ fieldSelector: "nonsense" }),
        "invalid",
        /invalid field selector|invalid selector/u,
      );
    },
  ),

  promise("a list of all namespaces holds the objects of each", async (setup) => {
    const { client } = setup;
    await client.create(CONFIG_MAPS, configMap(setup, "one"));
    await client.create(CONFIG_MAPS, { metadata: { name: setup.unique("two"), namespace: "default" } });
    const found = await listed(client, CONFIG_MAPS, {});
    const keys = found.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    ok(
      keys.includes(`${setup.namespace}/one`) && keys.includes(`default/${setup.unique("two")}`),
      keys.join(),
    );
  }),

  promise("a list from a version on is not older than that", async (setup) => {
    const { client, other, namespace } = setup;
    const { metadata } = await client.create(CONFIG_MAPS, configMap(setup, "new"));
    const { resourceVersion = "" } = metadata;
    const query = { namespace, resourceVersion, fieldSelector: "metadata.name=new" };
    deepStrictEqual(namesOf(await listed(other, CONFIG_MAPS, query)), ["new"]);
  }),

  promise(
    "a version that is still to come is not answered with an older one",
    async ({ client, namespace }) => {
      const end = await client.list(CONFIG_MAPS, { namespace }, () => undefined);
      const resourceVersion = String(Number(end.resourceVersion) + 1_000_000);
      const call = client.list(CONFIG_MAPS, { namespace, resourceVersion }, () => undefined);
      await refused(call, "overloaded", /Too large resource version/u);
    },
  ),

  promise("read gives what is no object: version and discovery", async ({ client }) => {
    const { major, gitVersion } = raw(await client.read("/version"));
    deepStrictEqual([major, typeof gitVersion], ["1", "string"]);
    const { resources } = (await client.read("/api/v1")) as {
      resources: readonly { readonly name: string }[];
    };
    const names = resources.map(({ name }) => name);
    for (const name of ["pods", "pods/status", "nodes", "nodes/status", "configmaps", "events"]) {
      ok(names.includes(name), `${name} is not among ${names.join()}`);
    }
  }),
];
