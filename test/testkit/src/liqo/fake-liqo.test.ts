import {
  FOREIGN_CLUSTERS,
  IDENTITIES,
  NAMESPACE_OFFLOADINGS,
  QUOTAS,
  RESOURCE_SLICES,
  SHADOW_PODS,
  TENANTS,
  tenantNamespaceOf,
  VIRTUAL_NODES,
} from "@resource-broker/agent/liqo";
import { NAMESPACES } from "@resource-broker/kube";
import { describe, expect, test } from "vitest";
import type { LiqoBehaviour } from "./behaviour.ts";
import { WHOLE_NODES, WHOLE_PODS, type WholePod } from "./plain-kinds.ts";
import { creatorUser } from "./provide-slice.ts";
import { ASKED, PARIS, ROME, sliceOf, twoClusters } from "./testing/two-clusters.ts";
import { untilGone, untilSeen } from "./testing/until-seen.ts";

const IN_ROME = tenantNamespaceOf(PARIS);
const IN_PARIS = tenantNamespaceOf(ROME);
const GENEROUS: Partial<LiqoBehaviour> = { grants: (asked) => asked };

const sliceStatus = (type: string, status: string) => ({
  name: { name: "rsv-a", namespace: IN_ROME },
  isAsWanted: (slice: { status?: { conditions?: readonly { type: string; status: string }[] } }) =>
    slice.status?.conditions?.some((each) => each.type === type && each.status === status) === true,
});

const isReady = (node: { status?: { conditions?: readonly { type: string; status: string }[] } }): boolean =>
  node.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true;

describe("peering", () => {
  test("makes both sides known to each other, and the provider is reached", async () => {
    const { rome, paris, liqo, peerArgs } = await twoClusters();
    expect(await liqo.liqoctl.run(peerArgs)).toMatchObject({ code: 0 });
    const provider = await untilSeen(rome, FOREIGN_CLUSTERS, {
      name: { name: PARIS },
      isAsWanted: ({ status }) => status?.role === "Provider",
    });
    expect(provider.status?.conditions).toEqual([
      expect.objectContaining({ type: "APIServerStatus", status: "Established" }),
    ]);
    await untilSeen(paris, FOREIGN_CLUSTERS, {
      name: { name: ROME },
      isAsWanted: ({ status }) => status?.role === "Consumer",
    });
    const namespace = await untilSeen(paris, NAMESPACES, { name: { name: IN_PARIS } });
    expect(namespace.metadata.labels).toMatchObject({
      "liqo.io/remote-cluster-id": ROME,
      "liqo.io/tenant-namespace": "true",
    });
    await untilSeen(paris, TENANTS, { name: { name: ROME, namespace: IN_PARIS } });
  });

  test("unpeering takes every slice and node of the pair, and the keys", async () => {
    const { rome, paris, liqo, peerArgs, unpeerArgs } = await twoClusters();
    liqo.behave(GENEROUS);
    await liqo.liqoctl.run(peerArgs);
    await rome.client.create(RESOURCE_SLICES, sliceOf("rsv-a"));
    await untilSeen(rome, WHOLE_NODES, { name: { name: "rsv-a" }, isAsWanted: isReady });
    expect(await liqo.liqoctl.run(unpeerArgs)).toMatchObject({ code: 0 });
    await untilGone(rome, WHOLE_NODES, { name: "rsv-a" });
    await untilGone(rome, IDENTITIES, { name: `controlplane-${PARIS}`, namespace: IN_ROME });
    await untilGone(paris, TENANTS, { name: ROME, namespace: IN_PARIS });
  });
});

describe("a slice of our class", () => {
  test("comes to the provider with its marks, is let in, and waits for a grant", async () => {
    const { rome, paris, liqo, peerArgs } = await twoClusters();
    await liqo.liqoctl.run(peerArgs);
    await rome.client.create(RESOURCE_SLICES, sliceOf("rsv-a"));
    const slice = await untilSeen(rome, RESOURCE_SLICES, sliceStatus("Authentication", "Accepted"));
    expect(slice.spec).toMatchObject({ consumerClusterID: ROME, csr: expect.any(String) });
    expect(slice.metadata.finalizers).toEqual(["crdreplicator.liqo.io/resource"]);
    expect(slice.status?.resources).toBeUndefined();
    const replica = await paris.client.get(RESOURCE_SLICES, { name: "rsv-a", namespace: IN_PARIS });
    expect(replica.metadata.labels).toEqual({
      "liqo.io/replication": "false",
      "liqo.io/replicated": "true",
      "liqo.io/originID": ROME,
      "liqo.io/remoteID": PARIS,
      "liqo.io/remote-cluster-id": ROME,
      "rear.fluidos.eu/reservation": "rsv-a",
    });
  });

  test("becomes a node of the size that the provider wrote, with a quota of the same", async () => {
    const { rome, paris, liqo, peerArgs } = await twoClusters();
    await liqo.liqoctl.run(peerArgs);
    await rome.client.create(RESOURCE_SLICES, sliceOf("rsv-a"));
    await untilSeen(rome, RESOURCE_SLICES, sliceStatus("Authentication", "Accepted"));
    const replica = await paris.client.get(RESOURCE_SLICES, { name: "rsv-a", namespace: IN_PARIS });
    const conditions = [
      ...(replica.status?.conditions ?? []),
      { type: "Resources", status: "Accepted" } as const,
    ];
    const status = { ...replica.status, resources: ASKED, conditions };
    await paris.client.update(RESOURCE_SLICES, { ...replica, status }, { subresource: "status" });
    const node = await untilSeen(rome, WHOLE_NODES, { name: { name: "rsv-a" }, isAsWanted: isReady });
    expect(node.status?.allocatable).toEqual(ASKED);
    expect(node.metadata.labels).toMatchObject({
      "liqo.io/type": "virtual-node",
      "liqo.io/remote-cluster-id": PARIS,
    });
    const quota = await untilSeen(paris, QUOTAS, {
      name: { name: creatorUser("rsv-a", ROME), namespace: IN_PARIS },
    });
    expect(quota.spec).toEqual({ user: quota.metadata.name, limitsEnforcement: "None", resources: ASKED });
  });

  test("that changes sends its spec to the provider; its annotations do not follow", async () => {
    const { rome, paris, liqo, peerArgs } = await twoClusters();
    liqo.behave({ grants: (asked) => asked });
    await liqo.liqoctl.run(peerArgs);
    await rome.client.create(RESOURCE_SLICES, sliceOf("rsv-a"));
    await untilSeen(rome, WHOLE_NODES, { name: { name: "rsv-a" }, isAsWanted: isReady });
    const name = { name: "rsv-a", namespace: IN_ROME };
    const body = {
      metadata: { annotations: { "rear.fluidos.eu/expires-at": "2030-01-01T00:00:00Z" } },
      spec: { resources: { cpu: "1" } },
    };
    await rome.client.patch(RESOURCE_SLICES, { name, patch: { kind: "merge", body } });
    const replica = await untilSeen(paris, RESOURCE_SLICES, {
      name: { name: "rsv-a", namespace: IN_PARIS },
      isAsWanted: ({ spec }) => spec.resources?.["cpu"] === "1",
    });
    expect(replica.metadata.annotations).toEqual({ "liqo.io/create-virtual-node": "true" });
  });

  test("that is deleted takes its replica, its virtual node and its Node with it, and leaves the others", async () => {
    const { rome, paris, liqo, peerArgs } = await twoClusters();
    liqo.behave(GENEROUS);
    await liqo.liqoctl.run(peerArgs);
    for (const name of ["rsv-a", "rsv-b"]) await rome.client.create(RESOURCE_SLICES, sliceOf(name));
    for (const name of ["rsv-a", "rsv-b"])
      await untilSeen(rome, WHOLE_NODES, { name: { name }, isAsWanted: isReady });
    await rome.client.delete(RESOURCE_SLICES, { name: "rsv-a", namespace: IN_ROME });
    await untilGone(rome, RESOURCE_SLICES, { name: "rsv-a", namespace: IN_ROME });
    await untilGone(rome, VIRTUAL_NODES, { name: "rsv-a", namespace: IN_ROME });
    await untilGone(rome, WHOLE_NODES, { name: "rsv-a" });
    await untilGone(paris, QUOTAS, { name: creatorUser("rsv-a", ROME), namespace: IN_PARIS });
    expect(isReady(await rome.client.get(WHOLE_NODES, { name: "rsv-b" }))).toBe(true);
  });

  test("a VirtualNode that is deleted comes again while its slice wants one", async () => {
    const { rome, liqo, peerArgs } = await twoClusters();
    liqo.behave(GENEROUS);
    await liqo.liqoctl.run(peerArgs);
    await rome.client.create(RESOURCE_SLICES, sliceOf("rsv-a"));
    const name = { name: "rsv-a", namespace: IN_ROME };
    const first = await untilSeen(rome, VIRTUAL_NODES, { name });
    await rome.client.delete(VIRTUAL_NODES, name);
    await untilSeen(rome, VIRTUAL_NODES, {
      name,
      isAsWanted: ({ metadata }) => metadata.uid !== first.metadata.uid,
    });
    const body = { metadata: { annotations: { "liqo.io/create-virtual-node": "false" } } };
    await rome.client.patch(RESOURCE_SLICES, { name, patch: { kind: "merge", body } });
    await rome.client.delete(VIRTUAL_NODES, name);
    await untilGone(rome, VIRTUAL_NODES, name);
    await untilGone(rome, WHOLE_NODES, { name: "rsv-a" });
    expect(await rome.client.find(RESOURCE_SLICES, name)).toBeDefined();
  });
});

test("a slice of Liqo's own class is granted whatever it asks for, and more", async () => {
  const { rome, liqo, peerArgs } = await twoClusters();
  await liqo.liqoctl.run(peerArgs);
  await rome.client.create(RESOURCE_SLICES, sliceOf("rsv-a", { class: "default", resources: { cpu: "99" } }));
  const slice = await untilSeen(rome, RESOURCE_SLICES, sliceStatus("Resources", "Accepted"));
  expect(slice.status?.resources).toMatchObject({ cpu: "99", memory: "8Gi", pods: "110" });
});

const POD: WholePod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", namespace: "default", labels: { app: "web" } },
  spec: {
    nodeName: "rsv-a",
    containers: [
      { name: "main", image: "example/web:1", resources: { requests: { cpu: "1", memory: "1Gi" } } },
    ],
  },
};
const GUEST = { name: "web", namespace: `default-${ROME}` };
const OFFLOADING = {
  apiVersion: "offloading.liqo.io/v1beta1",
  kind: "NamespaceOffloading",
  metadata: { name: "offloading", namespace: "default" },
  spec: {
    podOffloadingStrategy: "LocalAndRemote" as const,
    clusterSelector: {
      nodeSelectorTerms: [
        {
          matchExpressions: [{ key: "liqo.io/remote-cluster-id", operator: "In" as const, values: [PARIS] }],
        },
      ],
    },
  },
};

describe("pods", () => {
  test("on a virtual node run at the provider with Liqo's marks, until they are deleted", async () => {
    const { rome, paris, liqo, peerArgs } = await twoClusters();
    liqo.behave(GENEROUS);
    await liqo.liqoctl.run(peerArgs);
    await rome.client.create(RESOURCE_SLICES, sliceOf("rsv-a"));
    await untilSeen(rome, WHOLE_NODES, { name: { name: "rsv-a" }, isAsWanted: isReady });
    await rome.client.create(NAMESPACE_OFFLOADINGS, OFFLOADING);
    await untilSeen(rome, NAMESPACE_OFFLOADINGS, {
      name: OFFLOADING.metadata,
      isAsWanted: ({ status }) => status?.offloadingPhase === "Ready",
    });
    await rome.client.create(WHOLE_PODS, POD);
    const guest = await untilSeen(paris, WHOLE_PODS, { name: GUEST });
    expect(guest.metadata.labels).toEqual({
      app: "web",
      "liqo.io/managed-by": "shadowpod",
      "offloading.liqo.io/origin": ROME,
      "offloading.liqo.io/destination": PARIS,
      "offloading.liqo.io/nodename": "rsv-a",
      "liqo.io/creator-user": creatorUser("rsv-a", ROME),
    });
    await untilSeen(rome, WHOLE_PODS, {
      name: POD.metadata,
      isAsWanted: ({ metadata }) => metadata.labels?.["liqo.io/shadowPod"] === "true",
    });
    await rome.client.delete(WHOLE_PODS, POD.metadata);
    await untilGone(paris, SHADOW_PODS, GUEST);
    await untilGone(paris, WHOLE_PODS, GUEST);
    await rome.client.delete(NAMESPACE_OFFLOADINGS, OFFLOADING.metadata);
    await untilGone(rome, NAMESPACE_OFFLOADINGS, OFFLOADING.metadata);
    await untilGone(paris, NAMESPACES, { name: GUEST.namespace });
  });

  test("come again when the provider deletes them, unless it has cordoned the slice", async () => {
    const { rome, paris, liqo, peerArgs } = await twoClusters();
    liqo.behave(GENEROUS);
    await liqo.liqoctl.run(peerArgs);
    await rome.client.create(RESOURCE_SLICES, sliceOf("rsv-a"));
    await untilSeen(rome, WHOLE_NODES, { name: { name: "rsv-a" }, isAsWanted: isReady });
    await rome.client.create(NAMESPACE_OFFLOADINGS, OFFLOADING);
    await rome.client.create(WHOLE_PODS, POD);
    const first = await untilSeen(paris, SHADOW_PODS, { name: GUEST });
    await paris.client.delete(SHADOW_PODS, GUEST);
    const isAnother = ({ metadata }: { metadata: { uid?: string } }) => metadata.uid !== first.metadata.uid;
    await untilSeen(paris, SHADOW_PODS, { name: GUEST, isAsWanted: isAnother });
    const body = { metadata: { annotations: { "liqo.io/cordon": "true" } } };
    const name = { name: "rsv-a", namespace: IN_PARIS };
    await paris.client.patch(RESOURCE_SLICES, { name, patch: { kind: "merge", body } });
    await untilSeen(paris, QUOTAS, {
      name: { name: creatorUser("rsv-a", ROME), namespace: IN_PARIS },
      isAsWanted: ({ spec }) => spec.cordoned === true,
    });
    await paris.client.delete(SHADOW_PODS, GUEST);
    await untilGone(paris, WHOLE_PODS, GUEST);
    expect(await paris.client.find(SHADOW_PODS, GUEST)).toBeUndefined();
  });

  test("of a namespace that is offloaded no more stay on the nodes of other slices, stuck", async () => {
    const { rome, paris, liqo, peerArgs } = await twoClusters();
    liqo.behave(GENEROUS);
    await liqo.liqoctl.run(peerArgs);
    for (const name of ["rsv-a", "rsv-b"]) {
      await rome.client.create(RESOURCE_SLICES, sliceOf(name));
      await untilSeen(rome, WHOLE_NODES, { name: { name }, isAsWanted: isReady });
    }
    await rome.client.create(NAMESPACE_OFFLOADINGS, OFFLOADING);
    await rome.client.create(WHOLE_PODS, { ...POD, spec: { ...POD.spec, nodeName: "rsv-b" } });
    await untilSeen(paris, WHOLE_PODS, { name: GUEST });
    // One slice's node alone cannot be chosen: the others of its cluster take the namespace away again.
    const rule = { key: "kubernetes.io/hostname", operator: "In" as const, values: ["rsv-b"] };
    const clusterSelector = { nodeSelectorTerms: [{ matchExpressions: [rule] }] };
    await rome.client.patch(NAMESPACE_OFFLOADINGS, {
      name: OFFLOADING.metadata,
      patch: { kind: "merge", body: { spec: { clusterSelector } } },
    });
    await untilGone(paris, NAMESPACES, { name: GUEST.namespace });
    const stuck = await untilSeen(rome, WHOLE_PODS, {
      name: POD.metadata,
      isAsWanted: ({ status }) => status?.reason !== undefined,
    });
    expect(stuck.status).toMatchObject({ phase: "Failed", reason: "OffloadingAborted" });
  });
});
