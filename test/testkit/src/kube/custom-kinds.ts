import { deepStrictEqual, strictEqual } from "node:assert";
import { customResourceDefinition, resourceRequestKind } from "@resource-broker/contract/crd";
import { CUSTOM_RESOURCE_DEFINITIONS, type KubeClient, type Resource } from "@resource-broker/kube";
import type { DefinedResource } from "@resource-broker/kube/testing";
import { until } from "../world/until.ts";
import { refused } from "../refused.ts";
import { type KubePromise, promise, type Setup } from "./kube-promise.ts";
import { startWatch } from "./start-watch.ts";

/** An object of one of our own kinds, as far as it matters here. What its schema refuses, admission cases say. */
interface Asked {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly generation?: number };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

const REQUESTS: Resource<Asked> = {
  group: resourceRequestKind.group,
  version: resourceRequestKind.version,
  kind: resourceRequestKind.kind,
  plural: resourceRequestKind.plural,
  isNamespaced: true,
};
const SIZE = { requestedCPU: "1", requestedMemory: "1Gi" };

/** Until a real server serves a new kind takes it two seconds: it is installed once. */
const installations = new WeakMap<KubeClient, Promise<void>>();

async function install({ client, other }: Setup): Promise<void> {
  const definition = customResourceDefinition(resourceRequestKind) as DefinedResource;
  await client.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
  for (const each of [client, other]) {
    await until("the new kind is served", () => each.list(REQUESTS, {}, () => undefined));
  }
}

function customPromise(name: string, body: (setup: Setup) => Promise<void>): KubePromise {
  return promise(name, async (setup) => {
    const installed = installations.get(setup.client) ?? install(setup);
    installations.set(setup.client, installed);
    await installed;
    await body(setup);
  });
}

function conditionOf(type: string): object {
  const lastTransitionTime = "2026-01-05T12:00:00Z";
  return { type, status: "True", reason: "Tested", message: "", lastTransitionTime };
}

export const CUSTOM_KINDS: readonly KubePromise[] = [
  customPromise("status is written on its own path, and generation counts the rest", async (setup) => {
    const { client } = setup;
    const early = { metadata: setup.in("one"), spec: { ...SIZE, wings: 2 }, status: { phase: "Pending" } };
    const made = await client.create(REQUESTS, early);
    deepStrictEqual([made.spec, made.status, made.metadata.generation], [SIZE, undefined, 1]);
    const status = { phase: "Pending", observedGeneration: 1, conditions: [conditionOf("Ready")] };
    const report = { ...made, spec: { ...SIZE, requestedCPU: "9" }, status };
    const reported = await client.update(REQUESTS, report, { subresource: "status" });
    deepStrictEqual([reported.spec, reported.status, reported.metadata.generation], [SIZE, status, 1]);
    const spec = { ...SIZE, requestedCPU: "2" };
    const changed = await client.update(REQUESTS, { ...reported, spec, status: {} });
    deepStrictEqual([changed.status, changed.metadata.generation], [status, 2]);
    const wrong = client.update(REQUESTS, { ...changed, status: { phase: 3 } }, { subresource: "status" });
    await refused(wrong, "invalid", /status\.phase/u);
    const blind = client.update(REQUESTS, { metadata: setup.in("one"), spec: SIZE });
    await refused(blind, "invalid", /metadata\.resourceVersion/u, /must be specified for an update/u);
  }),

  customPromise("custom kinds take merge and JSON patches", async (setup) => {
    const { client, namespace } = setup;
    await client.create(REQUESTS, { metadata: setup.in("one"), spec: SIZE });
    const { resourceVersion } = await client.list(REQUESTS, { namespace }, () => undefined);
    const watch = startWatch(client, REQUESTS, { namespace, resourceVersion });
    const patch = (change: Parameters<KubeClient["patch"]>[1]["patch"]) =>
      client.patch(REQUESTS, { name: setup.in("one"), patch: change });
    const merged = await patch({ kind: "merge", body: { spec: { requestedCPU: "3" } } });
    deepStrictEqual((await watch.next())?.object, merged);
    watch.stop();
    const body = [{ op: "replace", path: "/spec/requestedCPU", value: "4" }] as const;
    strictEqual((await patch({ kind: "json", body })).spec["requestedCPU"], "4");
  }),

  customPromise("custom kinds are applied field by field", async (setup) => {
    const { client } = setup;
    const request = { metadata: setup.in("one"), spec: SIZE };
    await client.apply<Asked>(REQUESTS, request, { fieldManager: "user" });
    const say = (fieldManager: string, status: object) =>
      client.apply<Asked>(
        REQUESTS,
        { metadata: setup.in("one"), status: { ...status } },
        { fieldManager, subresource: "status" },
      );
    const [ready, seen] = [conditionOf("Ready"), conditionOf("Seen")];
    await say("a", { phase: "Pending", conditions: [ready] });
    deepStrictEqual((await say("b", { conditions: [seen] })).status?.["conditions"], [ready, seen]);
    await refused(say("b", { phase: "Failed" }), "conflict", /conflict with "a".*\.status\.phase/su);
    deepStrictEqual((await say("a", {})).status, { conditions: [seen] });
  }),
];
