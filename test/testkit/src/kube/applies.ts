import { deepStrictEqual, strictEqual } from "node:assert";
import {
  CONFIG_MAPS,
  type ConfigMap,
  PODS,
  type Resource,
  SERVICE_ACCOUNTS,
  type ServiceAccount,
} from "@resource-broker/kube";
import { refused } from "../refused.ts";
import { configMap, type KubePromise, promise, type Setup } from "./kube-promise.ts";
import { pod } from "./shapes.ts";

/** With a list that is merged by names. */
interface Account extends ServiceAccount {
  readonly secrets?: readonly { readonly name: string }[];
}
const ACCOUNTS: Resource<Account> = SERVICE_ACCOUNTS;

/** Applies the map `one` of the scene. */
function applyMap(
  { client, ...setup }: Setup,
  fieldManager: string,
  { force, ...parts }: Parameters<typeof configMap>[2] & { readonly force?: boolean },
): Promise<ConfigMap> {
  const options = { fieldManager, ...(force === undefined ? {} : { force }) };
  return client.apply(CONFIG_MAPS, configMap(setup, "one", parts), options);
}

interface Managed {
  readonly manager: string;
  readonly operation: string;
}

function managersOf({ metadata }: ConfigMap): string[] {
  const entries = (metadata as { readonly managedFields?: readonly Managed[] }).managedFields ?? [];
  return entries.map(({ manager, operation }) => `${manager} ${operation}`).toSorted();
}

export const APPLIES: readonly KubePromise[] = [
  promise("apply creates, and takes away what it applied before, but nothing of others", async (setup) => {
    const data = { wall: "white", door: "red" };
    const made = await applyMap(setup, "painter", { data });
    deepStrictEqual([made.data, managersOf(made)], [data, ["painter Apply"]]);
    const again = await applyMap(setup, "painter", { data });
    strictEqual(again.metadata.resourceVersion, made.metadata.resourceVersion);
    await applyMap(setup, "carpenter", { data: { floor: "oak" } });
    const fewer = await applyMap(setup, "painter", { data: { wall: "grey" } });
    deepStrictEqual(fewer.data, { wall: "grey", floor: "oak" });
  }),

  promise("apply of somebody else's field says conflict, with its owner and name", async (setup) => {
    await applyMap(setup, "painter", { data: { wall: "white" } });
    const vandal = applyMap(setup, "vandal", { data: { wall: "black" } });
    await refused(vandal, "conflict", /conflict with "painter"/u, /\.data\.wall/u);
    deepStrictEqual((await setup.client.get(CONFIG_MAPS, setup.in("one"))).data, { wall: "white" });
  }),

  promise("apply by force takes the field over", async (setup) => {
    await applyMap(setup, "painter", { data: { wall: "white", door: "red" } });
    const taken = await applyMap(setup, "vandal", { data: { wall: "black" }, force: true });
    deepStrictEqual(taken.data, { wall: "black", door: "red" });
    await refused(applyMap(setup, "painter", { data: { wall: "white" } }), "conflict", /"vandal"/u);
    const left = await applyMap(setup, "painter", { data: { door: "blue" } });
    deepStrictEqual(left.data, { wall: "black", door: "blue" });
  }),

  promise("a field that two apply stays until both leave it out", async (setup) => {
    await applyMap(setup, "painter", { data: { wall: "white" } });
    await applyMap(setup, "owner", { data: { wall: "white" } });
    const one = await applyMap(setup, "painter", { data: {} });
    deepStrictEqual(one.data, { wall: "white" });
    const none = await applyMap(setup, "owner", { data: {} });
    deepStrictEqual(none.data ?? {}, {});
  }),

  promise("a field that somebody updated is theirs", async (setup) => {
    const made = await applyMap(setup, "painter", { data: { wall: "white" } });
    await setup.client.update(CONFIG_MAPS, { ...made, data: { wall: "pink" } }, { fieldManager: "child" });
    await refused(applyMap(setup, "painter", { data: { wall: "white" } }), "conflict", /"child"/u);
    const agreed = await applyMap(setup, "painter", { data: { wall: "pink" } });
    deepStrictEqual(managersOf(agreed), ["child Update", "painter Apply"]);
  }),

  promise("what was created belongs to whoever created it", async (setup) => {
    const body = configMap(setup, "one", { data: { wall: "white" } });
    await setup.client.create(CONFIG_MAPS, body, { fieldManager: "maker" });
    await refused(applyMap(setup, "painter", { data: { wall: "grey" } }), "conflict", /"maker"/u);
  }),

  promise("apply merges lists by their keys and sets by their items", async (setup) => {
    const { client } = setup;
    const give = (fieldManager: string, name: string) =>
      client.apply(ACCOUNTS, { metadata: setup.in("shop"), secrets: [{ name }] }, { fieldManager });
    await give("web", "web-key");
    const both = await give("ssh", "ssh-key");
    deepStrictEqual(new Set(both.secrets?.map(({ name }) => name)), new Set(["ssh-key", "web-key"]));
    const finalizers = (fieldManager: string, ...names: string[]) =>
      applyMap(setup, fieldManager, { metadata: { finalizers: names } });
    await finalizers("a", "example.com/a");
    const held = await finalizers("b", "example.com/b");
    deepStrictEqual(held.metadata.finalizers?.toSorted(), ["example.com/a", "example.com/b"]);
    const freed = await finalizers("a");
    deepStrictEqual(freed.metadata.finalizers, ["example.com/b"]);
    await finalizers("b");
  }),

  promise("apply of a status leaves the rest alone", async ({ client, ...setup }) => {
    await client.apply(PODS, pod(setup, "one"), { fieldManager: "maker" });
    const body = { metadata: { ...setup.in("one") }, status: { phase: "Running" } };
    const reported = await client.apply(PODS, body, { fieldManager: "kubelet", subresource: "status" });
    strictEqual(reported.status?.phase, "Running");
    const main = { metadata: { ...setup.in("one"), labels: { a: "1" } }, status: { phase: "Failed" } };
    const labelled = await client.apply(PODS, main, { fieldManager: "labeller" });
    deepStrictEqual([labelled.status?.phase, labelled.metadata?.labels], ["Running", { a: "1" }]);
  }),

  promise("apply with an old version says conflict, for another object invalid", async (setup) => {
    const made = await applyMap(setup, "painter", { data: { wall: "white" } });
    await applyMap(setup, "painter", { data: { wall: "grey" } });
    const { resourceVersion = "" } = made.metadata;
    const late = applyMap(setup, "painter", { metadata: { resourceVersion }, data: { wall: "white" } });
    await refused(late, "conflict", /the object has been modified/u);
    const uid = "00000000-0000-0000-0000-000000000000";
    await refused(applyMap(setup, "painter", { metadata: { uid } }), "invalid", /metadata\.uid/u);
  }),
];
