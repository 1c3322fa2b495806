import { deepStrictEqual, ok } from "node:assert";
import { NODE_LABELS } from "@resource-broker/accounting";
import { liqoAccounting } from "@resource-broker/agent/liqo";
import {
  type KubeClient,
  NODES,
  nodesWithLabels,
  PODS,
  podsWithLabels,
  type Resource,
} from "@resource-broker/kube";
import { type MessageFields, projection } from "@resource-broker/kube/testing";
import { type KubePromise, listed, promise, type Setup } from "./kube-promise.ts";
import { container, labelsFor, nodes, POD_SPECS, POD_STATUS, pod, type WholePod } from "./shapes.ts";
import { startWatch } from "./start-watch.ts";

/** With the labels that the accounting reads. */
const COUNTED_PODS = podsWithLabels(liqoAccounting.labels.pod);
const COUNTED_NODES = nodesWithLabels([...liqoAccounting.labels.node, ...NODE_LABELS]);
const POD_FIELDS = COUNTED_PODS.protobuf ?? {};
const NODE_FIELDS = COUNTED_NODES.protobuf ?? {};

/** The same kind, in JSON. */
function inJson<T>({ group, version, kind, plural, isNamespaced }: Resource<T>): Resource<T> {
  return { group, version, kind, plural, isNamespaced };
}

/** Lists in both forms must agree, and hold these. */
async function sameLists<T extends object>(
  client: KubeClient,
  {
    resource,
    fields,
    ...query
  }: { resource: Resource<T>; fields: MessageFields; namespace?: string; labelSelector?: string },
): Promise<readonly T[]> {
  const inProtobuf = await listed(client, resource, query);
  const json = await listed(client, inJson(resource), query);
  deepStrictEqual(
    inProtobuf,
    json.map((object) => projection(fields, object)),
  );
  ok(inProtobuf.length > 0);
  return inProtobuf;
}

/** Every shape of pods, some of them with what a kubelet reports. */
async function createPods({ client, ...setup }: Setup): Promise<void> {
  for (const [name, spec] of Object.entries(POD_SPECS)) await client.create(PODS, pod(setup, name, spec));
  const initContainers = [container("first", { cpu: "2" })];
  const finalizers = ["example.com/hold"];
  const labels = { app: "shop", ...labelsFor(liqoAccounting.labels.pod) };
  const reported = pod(setup, "reported", { nodeName: "node-1", initContainers });
  const metadata: WholePod["metadata"] = { ...reported.metadata, labels, finalizers };
  await client.create(PODS, { ...reported, metadata });
  const change = {
    name: setup.in("reported"),
    patch: { kind: "merge", body: { status: POD_STATUS } },
  } as const;
  await client.patch(PODS, change, { subresource: "status" });
  await client.delete(PODS, setup.in("reported"));
}

export const WIRE_FORMS: readonly KubePromise[] = [
  promise("pods are the same in protobuf and in JSON, every field that is read", async (setup) => {
    const { client, namespace } = setup;
    await createPods(setup);
    const pods = await sameLists(client, { resource: COUNTED_PODS, fields: POD_FIELDS, namespace });
    deepStrictEqual(pods.length, Object.keys(POD_SPECS).length + 1);
    const unread = pathsOf(POD_FIELDS).filter((path) => !pods.some((each) => has(each, path)));
    // Only init containers may have a restart policy, and overhead needs a RuntimeClass.
    deepStrictEqual(unread, ["spec.containers.restartPolicy", "spec.overhead"]);
  }),

  promise("a pod's overhead, which its RuntimeClass gives it, is the same in both", async (setup) => {
    const { client, namespace } = setup;
    const name = setup.unique("heavy");
    const runtimeClasses = {
      group: "node.k8s.io",
      version: "v1",
      kind: "RuntimeClass",
      plural: "runtimeclasses",
      isNamespaced: false,
    };
    const overhead = { podFixed: { cpu: "250m", memory: "120Mi" } };
    await client.create<object>(runtimeClasses, { metadata: { name }, handler: "heavy", overhead });
    await client.create(PODS, pod(setup, "one", { runtimeClassName: name }));
    const [found] = await sameLists(client, { resource: COUNTED_PODS, fields: POD_FIELDS, namespace });
    deepStrictEqual(found?.spec?.overhead, overhead.podFixed);
  }),

  promise(
    "nodes are the same in protobuf and in JSON, every field that is read",
    async ({ client, unique }) => {
      const labels = { promise: unique("x") };
      const shapes = nodes(unique);
      for (const node of shapes) {
        await client.create(NODES, {
          ...node,
          metadata: { ...node.metadata, labels: { ...node.metadata?.labels, ...labels } },
        });
      }
      const labelSelector = `promise=${labels.promise}`;
      const found = await sameLists(client, { resource: COUNTED_NODES, fields: NODE_FIELDS, labelSelector });
      deepStrictEqual(found.length, shapes.length);
      const unread = pathsOf(NODE_FIELDS).filter((path) => !found.some((each) => has(each, path)));
      deepStrictEqual(unread, ["metadata.namespace", "metadata.deletionTimestamp"]);
      for (const { metadata } of found) await client.delete(NODES, { name: metadata?.name ?? "" });
    },
  ),

  promise("watches in protobuf and in JSON tell the same", async (setup) => {
    const { client, other, namespace } = setup;
    const { resourceVersion } = await client.list(PODS, { namespace }, () => undefined);
    await createPods(setup);
    await client.delete(PODS, setup.in("small"));
    const [compact, json] = [
      startWatch(client, COUNTED_PODS, { namespace, resourceVersion }),
      startWatch(other, inJson(COUNTED_PODS), { namespace, resourceVersion }),
    ];
    // Every pod, the report, its deletion, and the deletion of another one.
    const count = Object.keys(POD_SPECS).length + 4;
    for (let index = 0; index < count; index++) {
      const [a, b] = [await compact.next(), await json.next()];
      ok(a !== undefined && b !== undefined, "both watches go on");
      deepStrictEqual({ ...a, object: a.object }, { ...b, object: projection(POD_FIELDS, b.object) });
    }
    compact.stop();
    json.stop();
  }),
];

/** `spec.containers.name`, for each field that is no message itself. */
function pathsOf(fields: MessageFields): string[] {
  return Object.values(fields).flatMap(({ name, kind }) =>
    typeof kind === "object" ? pathsOf(kind.message).map((path) => `${name}.${path}`) : [name],
  );
}

function has(value: unknown, path: string): boolean {
  if (path === "") return value !== undefined;
  if (Array.isArray(value)) return value.some((item) => has(item, path));
  if (typeof value !== "object" || value === null) return false;
  const [first = "", ...rest] = path.split(".");
  return first in value && has((value as Record<string, unknown>)[first], rest.join("."));
}
