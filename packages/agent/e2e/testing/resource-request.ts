import { apiVersionOf, type ResourceRequest, resourceRequestKind } from "@resource-broker/contract/crd";
import { RESOURCE_REQUESTS, type WorldCluster } from "@resource-broker/testkit";

/** Creates a ResourceRequest for 4 CPU and 8Gi, unless `spec` says otherwise. */
export function askFor(
  cluster: WorldCluster,
  name: string,
  spec: Partial<ResourceRequest["spec"]> = {},
): Promise<ResourceRequest> {
  return cluster.client.create(RESOURCE_REQUESTS, {
    apiVersion: apiVersionOf(resourceRequestKind),
    kind: "ResourceRequest",
    metadata: { name, namespace: "default" },
    spec: { requestedCPU: "4", requestedMemory: "8Gi", ...spec },
  });
}

/** The phase is the broker's word, the condition the instruction's: either may be seen first. */
export function isActive({ status }: ResourceRequest): boolean {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  return status?.phase === "Active" && ready?.status === "True";
}

/** Resolves when what was asked for can be used. */
export async function untilActive(cluster: WorldCluster, name: string): Promise<ActiveRequest> {
  const request = await cluster.until(RESOURCE_REQUESTS, name, isActive);
  const { reservationName = "", targetClusterID = "" } = request.status ?? {};
  return { request, reservationName, targetClusterID };
}

export interface ActiveRequest {
  readonly request: ResourceRequest;
  readonly reservationName: string;
  readonly targetClusterID: string;
}
