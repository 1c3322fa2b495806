import type { JsonObject } from "@resource-broker/kube-sim";

const LIQO_NAMESPACE = "liqo";
const VERSION = "v1.2.0";

/** What is in a cluster once Liqo is installed, and by which it says who it is. */
export function installedLiqo(id: string): JsonObject[] {
  const metadata = metadataOf("liqo-clusterid-configmap", "clusterid-configmap");
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: LIQO_NAMESPACE } },
    { apiVersion: "v1", kind: "ConfigMap", metadata, data: { CLUSTER_ID: id } },
  ];
}

/** By which Liqo says its version. kube-sim has no Deployments, and refuses it. */
export function liqoDeployment(version = VERSION): JsonObject {
  const selector = { "app.kubernetes.io/name": "controller-manager" };
  const container = { name: "controller-manager", image: `example/liqo-controller-manager:${version}` };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: metadataOf("liqo-controller-manager", "controller-manager"),
    spec: {
      replicas: 1,
      selector: { matchLabels: selector },
      template: { metadata: { labels: selector }, spec: { containers: [container] } },
    },
  };
}

function metadataOf(name: string, app: string): JsonObject {
  const labels = { "app.kubernetes.io/name": app, "app.kubernetes.io/part-of": "liqo" };
  return { name, namespace: LIQO_NAMESPACE, labels };
}
