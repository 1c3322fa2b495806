import { type KubeClient, SELF_SUBJECT_REVIEWS } from "@resource-broker/kube";

export const NAMESPACE = "default";

/** As the API server answers an agent whose kubeconfig came from `brokerctl kubeconfig issue`. */
export function issuedFor(clusterId: string, client: KubeClient): KubeClient {
  const username = `system:serviceaccount:${NAMESPACE}:agent-${clusterId}`;
  const create: KubeClient["create"] = (resource, object, options) =>
    resource.plural === SELF_SUBJECT_REVIEWS.plural
      ? Promise.resolve({ ...object, status: { userInfo: { username } } })
      : client.create(resource, object, options);
  return { ...client, create };
}
