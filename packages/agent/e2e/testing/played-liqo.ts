import {
  FOREIGN_CLUSTERS,
  LIQO_LABEL,
  NAMESPACE_OFFLOADINGS,
  RESOURCE_SLICES,
  type ResourceSlice,
  tenantNamespaceOf,
  VIRTUAL_NODES,
} from "@resource-broker/agent/liqo";
import { CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES, type Resource } from "@resource-broker/kube";
import { until, WHOLE_NODES, WHOLE_PODS, type WholeNode, type WorldCluster } from "@resource-broker/testkit";

const ANYTHING = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

function definitionOf({ group, version, kind, plural, isNamespaced }: Resource<unknown>): object {
  const singular = kind.toLowerCase();
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind, plural, singular, listKind: `${kind}List` },
      scope: isNamespaced ? "Namespaced" : "Cluster",
      versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema: ANYTHING } }],
    },
  };
}

async function createNamespace({ client }: WorldCluster, name: string): Promise<void> {
  await client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
}

/** Says that Liqo is installed, with this ID. */
export async function installPlayedLiqo(cluster: WorldCluster, liqoId: string): Promise<void> {
  await createNamespace(cluster, "liqo");
  const labels = { "app.kubernetes.io/name": "clusterid-configmap" };
  await cluster.client.create(CONFIG_MAPS, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "clusterid", namespace: "liqo", labels },
    data: { CLUSTER_ID: liqoId },
  });
}

/** A person has peered the cluster with this provider. */
export async function playPeering(cluster: WorldCluster, providerLiqoId: string): Promise<void> {
  for (const kind of [FOREIGN_CLUSTERS, RESOURCE_SLICES, VIRTUAL_NODES, NAMESPACE_OFFLOADINGS])
    await cluster.client.create(CUSTOM_RESOURCE_DEFINITIONS, definitionOf(kind) as never);
  await createNamespace(cluster, tenantNamespaceOf(providerLiqoId));
  const foreignCluster = {
    apiVersion: "core.liqo.io/v1beta1",
    kind: "ForeignCluster",
    metadata: { name: providerLiqoId, labels: { [LIQO_LABEL.remoteCluster]: providerLiqoId } },
    spec: { clusterID: providerLiqoId },
    status: {
      role: "Provider",
      modules: {
        authentication: { conditions: [{ type: "AuthIdentityControlPlaneStatus", status: "Ready" }] },
      },
      conditions: [{ type: "APIServerStatus", status: "Established" }],
    },
  } as const;
  await until("the kinds of Liqo are served", async () =>
    cluster.client.create(FOREIGN_CLUSTERS, foreignCluster),
  );
}

/** Does what Liqo does when the agent has made a slice: grants it, and makes its virtual node. */
export async function playVirtualNode({ client }: WorldCluster, id: string, liqoId: string): Promise<void> {
  const namespace = tenantNamespaceOf(liqoId);
  const slice = await until(`the slice ${id} is there`, () =>
    client.find(RESOURCE_SLICES, { name: id, namespace }),
  );
  const { resources = {} } = slice.spec;
  const conditions = (["Authentication", "Resources"] as const).map((type) => ({
    type,
    status: "Accepted" as const,
  }));
  const status: NonNullable<ResourceSlice["status"]> = { conditions, resources };
  await client.patch(RESOURCE_SLICES, {
    name: { name: id, namespace },
    patch: { kind: "merge", body: { status } },
  });
  const labels = {
    [LIQO_LABEL.type]: "virtual-node",
    [LIQO_LABEL.resourceSlice]: id,
    [LIQO_LABEL.remoteCluster]: liqoId,
  };
  await client.create(VIRTUAL_NODES, {
    apiVersion: "offloading.liqo.io/v1beta1",
    kind: "VirtualNode",
    metadata: { name: id, namespace, labels },
    spec: { clusterID: liqoId },
  });
  await client.create(WHOLE_NODES, {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: id, labels },
    spec: {},
    status: { allocatable: resources, capacity: resources, conditions: [{ type: "Ready", status: "True" }] },
  });
}

/** A pod on the virtual node. */
export async function startPodOn({ client }: WorldCluster, name: string, nodeName: string): Promise<void> {
  await client.create(WHOLE_PODS, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default" },
    spec: { nodeName, containers: [{ name: "main", image: "example/app:1" }] },
  });
}

export function virtualNode({ client }: WorldCluster, id: string): Promise<WholeNode | undefined> {
  return client.find(WHOLE_NODES, { name: id });
}
