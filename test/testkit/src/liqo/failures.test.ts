import {
  FOREIGN_CLUSTERS,
  IDENTITIES,
  RESOURCE_SLICES,
  type ResourceSlice,
  tenantNamespaceOf,
  VIRTUAL_NODES,
  type VirtualNode,
} from "@resource-broker/agent/liqo";
import { NAMESPACES } from "@resource-broker/kube";
import { expect, test } from "vitest";
import type { LiqoBehaviour } from "./behaviour.ts";
import { WHOLE_NODES, type WholeNode } from "./plain-kinds.ts";
import { ASKED, PARIS, sliceOf, type TwoClusters, twoClusters } from "./testing/two-clusters.ts";
import { untilGone, untilSeen } from "./testing/until-seen.ts";

const IN_ROME = tenantNamespaceOf(PARIS);
const SLICE = { name: "rsv-a", namespace: IN_ROME };
const NODE = { name: "rsv-a" };

const readiness = ({ status }: WholeNode): string | undefined =>
  status?.conditions?.find(({ type }) => type === "Ready")?.status;
const condition = ({ status }: ResourceSlice, type: string): string | undefined =>
  status?.conditions?.find((each) => each.type === type)?.status;

/** Peered, and a slice is asked for. */
async function asked(behaviour: Partial<LiqoBehaviour> = {}): Promise<TwoClusters> {
  const clusters = await twoClusters();
  const { rome, liqo, peerArgs } = clusters;
  liqo.behave({ grants: (amounts) => amounts, ...behaviour });
  await liqo.liqoctl.run(peerArgs);
  await rome.client.create(RESOURCE_SLICES, sliceOf("rsv-a"));
  return clusters;
}

interface Row {
  readonly name: string;
  readonly behaviour: Partial<LiqoBehaviour>;
  /** Resolves with what is there then. */
  readonly look: (clusters: TwoClusters) => Promise<unknown>;
  readonly shows: object;
}

const isSlice = (type: string, status: string) => ({
  name: SLICE,
  isAsWanted: (slice: ResourceSlice) => condition(slice, type) === status,
});
const isNode = (status: string) => ({
  name: NODE,
  isAsWanted: (node: WholeNode) => readiness(node) === status,
});

const rows: readonly Row[] = [
  {
    name: "it lets nobody in",
    behaviour: { authenticates: "Denied" },
    look: ({ rome }) => untilSeen(rome, RESOURCE_SLICES, isSlice("Authentication", "Denied")),
    shows: { status: { conditions: [{ type: "Authentication", status: "Denied" }] } },
  },
  {
    name: "it denies the resources",
    behaviour: { grants: () => "Denied" },
    look: async ({ rome }) => ({
      granted: (await untilSeen(rome, RESOURCE_SLICES, isSlice("Resources", "Denied"))).status?.resources,
    }),
    shows: { granted: undefined },
  },
  {
    name: "it grants a part",
    behaviour: { grants: (amounts) => ({ ...amounts, cpu: "1" }) },
    look: ({ rome }) => untilSeen(rome, WHOLE_NODES, isNode("True")),
    shows: { status: { allocatable: { ...ASKED, cpu: "1" } } },
  },
  {
    name: "its node is not ready",
    behaviour: { node: "NotReady" },
    look: ({ rome }) => untilSeen(rome, WHOLE_NODES, isNode("False")),
    shows: { metadata: { labels: { "liqo.io/type": "virtual-node" } } },
  },
  {
    name: "its node never comes, and the VirtualNode says that it runs",
    behaviour: { node: "Absent" },
    look: async ({ rome }) => {
      const hasStatus = { name: SLICE, isAsWanted: ({ status }: VirtualNode) => status !== undefined };
      const virtual = await untilSeen(rome, VIRTUAL_NODES, hasStatus);
      return { virtual, node: await rome.client.find(WHOLE_NODES, NODE) };
    },
    shows: {
      virtual: {
        status: {
          conditions: [
            { type: "VirtualKubelet", status: "Running" },
            { type: "Node", status: "Running" },
          ],
        },
      },
      node: undefined,
    },
  },
  {
    name: "its node is of another size",
    behaviour: { allocatable: (granted) => ({ ...granted, memory: "1Gi" }) },
    look: ({ rome }) => untilSeen(rome, WHOLE_NODES, isNode("True")),
    shows: { status: { allocatable: { ...ASKED, memory: "1Gi" } } },
  },
  {
    name: "no virtual node is made",
    behaviour: { makesVirtualNode: false },
    look: async ({ rome }) => {
      await untilSeen(rome, IDENTITIES, { name: { ...SLICE, name: "resourceslice-rsv-a" } });
      return { virtual: await rome.client.find(VIRTUAL_NODES, SLICE) };
    },
    shows: { virtual: undefined },
  },
];
test.each(rows)("$name", async ({ behaviour, look, shows }) => {
  expect(await look(await asked(behaviour))).toMatchObject(shows);
});

test("one slice can be treated worse than the others, and well again", async () => {
  const { rome, liqo } = await asked({});
  liqo.behave({ node: "NotReady" }, "rsv-b");
  await rome.client.create(RESOURCE_SLICES, sliceOf("rsv-b"));
  await untilSeen(rome, WHOLE_NODES, isNode("True"));
  const name = { name: "rsv-b" };
  await untilSeen(rome, WHOLE_NODES, { name, isAsWanted: (each) => readiness(each) === "False" });
  liqo.resetBehaviour();
  const node = await untilSeen(rome, WHOLE_NODES, { name, isAsWanted: (each) => readiness(each) === "True" });
  expect(node.status?.allocatable).toEqual(ASKED);
});

test("a finalizer that is stuck keeps the slice until it is not", async () => {
  const { rome, paris, liqo } = await asked({ stuck: ["slice"] });
  await untilSeen(rome, WHOLE_NODES, { name: NODE });
  await rome.client.delete(RESOURCE_SLICES, SLICE);
  await untilGone(paris, RESOURCE_SLICES, { name: "rsv-a", namespace: tenantNamespaceOf("liqo-rome") });
  expect(await rome.client.find(RESOURCE_SLICES, SLICE)).toMatchObject({
    metadata: { deletionTimestamp: expect.any(String) },
  });
  liqo.behave({ stuck: [] });
  await untilGone(rome, RESOURCE_SLICES, SLICE);
});

test("while it is paused nothing moves, and then all of it does", async () => {
  const { rome, liqo, peerArgs } = await twoClusters();
  liqo.behave({ grants: (amounts) => amounts });
  await liqo.liqoctl.run(peerArgs);
  await untilSeen(rome, FOREIGN_CLUSTERS, { name: { name: PARIS } });
  liqo.pause();
  const made = await rome.client.create(RESOURCE_SLICES, sliceOf("rsv-a"));
  // What the API server tells of this object was told after the slice: it has been heard, and nothing was done.
  await rome.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "later" } });
  expect(await rome.client.get(RESOURCE_SLICES, SLICE)).toEqual(made);
  liqo.resume();
  const node = await untilSeen(rome, WHOLE_NODES, {
    name: NODE,
    isAsWanted: (each) => readiness(each) === "True",
  });
  expect(node.status?.allocatable).toEqual(ASKED);
});

test("a provider that is gone is reported, keeps what was deleted, and is given up by force", async () => {
  const { rome, liqo, unpeerArgs } = await asked();
  await untilSeen(rome, WHOLE_NODES, isNode("True"));
  liqo.disconnect(PARIS);
  await untilSeen(rome, WHOLE_NODES, isNode("Unknown"));
  await untilSeen(rome, FOREIGN_CLUSTERS, {
    name: { name: PARIS },
    isAsWanted: ({ status }) => status?.conditions?.[0]?.status === "Error",
  });
  expect(await liqo.liqoctl.run(unpeerArgs)).toMatchObject({
    code: 1,
    output: expect.stringContaining("connection refused"),
  });
  await rome.client.delete(RESOURCE_SLICES, SLICE);
  const [, kubeconfig = "", file = ""] = unpeerArgs;
  const force = ["force", "unpeer", kubeconfig, file, "--skip-confirm", "--", PARIS];
  expect(await liqo.liqoctl.run(force)).toMatchObject({ code: 0 });
  await untilGone(rome, WHOLE_NODES, NODE);
  expect(await rome.client.find(NAMESPACES, { name: IN_ROME })).toBeUndefined();
});
