import { deepStrictEqual, ok, strictEqual } from "node:assert";
import { CONFIG_MAPS, EVENTS, PODS, SECRETS } from "@resource-broker/kube";
import { refused } from "../refused.ts";
import { configMap, type KubePromise, listed, namesOf, promise, type Setup } from "./kube-promise.ts";
import { pod } from "./shapes.ts";

/** How many objects a page, and a whole list, hold here. */
const [PAGE, ALL] = [3, 7];

async function createMaps(setup: Setup): Promise<string[]> {
  const names = Array.from({ length: ALL }, (_, index) => `map-${index}`);
  for (const name of names) await setup.client.create(CONFIG_MAPS, configMap(setup, name));
  return names;
}

interface RawList {
  readonly metadata: { readonly continue?: string };
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
  ["tier==gold,zone=a", ["gold-a"]],
  ["tier!=gold", ["plain", "silver"]],
  ["!tier", ["plain"]],
  ["tier in (silver, bronze)", ["silver"]],
  ["tier notin (gold)", ["plain", "silver"]],
  ["tier,!zone", ["silver"]],
  ["zone=", []],
];

export const READS: readonly KubePromise[] = [
  promise("get gives an object with what the server adds, find also nothing", async (setup) => {
    const { client, namespace } = setup;
    const made = await client.create(CONFIG_MAPS, configMap(setup, "one", { data: { a: "1" } }));
    const found = await client.get(CONFIG_MAPS, setup.in("one"));
    deepStrictEqual(found, made);
    const { uid = "", resourceVersion = "", creationTimestamp = "" } = found.metadata;
    ok(/^[-0-9a-f]{36}$/u.test(uid), `${uid} is no uid`);
    ok(/^\d+$/u.test(resourceVersion), `${resourceVersion} is no version`);
    ok(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/u.test(creationTimestamp), `${creationTimestamp} is no time`);
    const { kind, apiVersion, ...rest } = found;
    deepStrictEqual([kind, apiVersion], ["ConfigMap", "v1"]);
    deepStrictEqual(await listed(client, CONFIG_MAPS, { namespace, fieldSelector: "metadata.name=one" }), [
      rest,
    ]);
    strictEqual(await client.find(CONFIG_MAPS, setup.in("none")), undefined);
    await refused(client.get(CONFIG_MAPS, setup.in("none")), "not-found", /configmaps "none" not found/u);
  }),

  promise("a list in pages is the list in one piece", async (setup) => {
    const { client, namespace } = setup;
    const names = await createMaps(setup);
    const query = { namespace, fieldSelector: "metadata.name!=kube-root-ca.crt" };
    for (const pageSize of [PAGE, ALL + 1]) {
      const found: string[] = [];
      const take = ({ metadata }: { metadata: { name: string } }) => void found.push(metadata.name);
      const { count, resourceVersion } = await client.list(CONFIG_MAPS, { ...query, pageSize }, take);
      deepStrictEqual([found, count], [names, ALL]);
      ok(/^\d+$/u.test(resourceVersion), `${resourceVersion} is no version`);
    }
  }),

  promise("a later page is of the moment of the first one", async (setup) => {
    const { client, namespace } = setup;
    await createMaps(setup);
    const path = `/api/v1/namespaces/${namespace}/configmaps?limit=${PAGE}&labelSelector=`;
    const after = async ({ metadata }: RawList): Promise<RawList> =>
      (await client.read(`${path}&continue=${encodeURIComponent(metadata.continue ?? "")}`)) as RawList;
    const first = (await client.read(path)) as RawList;
    await client.create(CONFIG_MAPS, configMap(setup, "zz-late"));
    await client.delete(CONFIG_MAPS, setup.in("map-6"));
    const second = await after(first);
    const rest = await after(second);
    const names = namesOf([...first.items, ...second.items, ...rest.items]);
    ok(names.includes("map-6"), `map-6 was there at first: ${names.join()}`);
    ok(!names.includes("zz-late"), `zz-late was not there at first: ${names.join()}`);
    strictEqual(first.items.length, PAGE);
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
    const involvedObject = { kind: "Pod", namespace, name: "placed" };
    await client.create(EVENTS, { metadata: setup.in("event"), involvedObject, reason: "Tested" });
    const pods = async (fieldSelector: string) =>
      namesOf(await listed(client, PODS, { namespace, fieldSelector }));
    deepStrictEqual(await pods("spec.nodeName=somewhere"), ["placed"]);
    deepStrictEqual(await pods("spec.nodeName="), ["waiting"]);
    deepStrictEqual(await pods("status.phase=Pending,metadata.name!=placed"), ["waiting"]);
    deepStrictEqual(await pods("status.phase!=Pending"), []);
    const about = "involvedObject.kind=Pod,involvedObject.name=placed,reason=Tested";
    deepStrictEqual(namesOf(await listed(client, EVENTS, { namespace, fieldSelector: about })), ["event"]);
    const everywhere = { fieldSelector: `metadata.namespace=${namespace},metadata.name=placed` };
    deepStrictEqual(namesOf(await listed(client, PODS, everywhere)), ["placed"]);
  }),

  promise("selectors that cannot be read or served are refused", async ({ client, namespace }) => {
    const list = (query: object) => client.list(PODS, { namespace, ...query }, () => undefined);
    const unread = /unable to parse requirement/u;
    await refused(list({ labelSelector: "tier in gold" }), "invalid", unread);
    const unserved = /field label not supported: spec\.hostname/u;
    await refused(list({ fieldSelector: "spec.hostname=x" }), "invalid", unserved);
    await refused(list({ fieldSelector: "nonsense" }), "invalid", /invalid (?:field )?selector/u);
  }),

  promise("a version still to come is not answered with an older one", async ({ client, namespace }) => {
    const end = await client.list(CONFIG_MAPS, { namespace }, () => undefined);
    const resourceVersion = String(Number(end.resourceVersion) + 1_000_000);
    const call = client.list(CONFIG_MAPS, { namespace, resourceVersion }, () => undefined);
    await refused(call, "overloaded", /Too large resource version/u);
  }),
];
