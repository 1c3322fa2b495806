import { isClusterId } from "@resource-broker/domain";
import { type KubeClient, SELF_SUBJECT_REVIEWS, toFault } from "@resource-broker/kube";

/**
 * The cluster that `brokerctl kubeconfig issue` made the kubeconfig for: its service account in the broker's
 * namespace has the cluster's name. Undefined: another kubeconfig, or an API server too old for the review.
 */
export async function issuedClusterId(
  client: Pick<KubeClient, "create">,
  namespace: string,
): Promise<string | undefined> {
  const review = await client.create(SELF_SUBJECT_REVIEWS, {}).catch(unlessUnknown);
  const prefix = `system:serviceaccount:${namespace}:agent-`;
  const username = review?.status?.userInfo?.username ?? "";
  const clusterId = username.startsWith(prefix) ? username.slice(prefix.length) : "";
  return isClusterId(clusterId) ? clusterId : undefined;
}

function unlessUnknown(error: unknown): undefined {
  const fault = toFault(error);
  if (fault.code === "not-found" || fault.code === "forbidden") return undefined;
  throw fault;
}
