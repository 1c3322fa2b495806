import { RESOURCE_REQUESTS, type WorldCluster } from "@resource-broker/testkit";

export interface Wanted {
  readonly name: string;
  readonly cpu: string;
  readonly memory: string;
}

/** Creates a ResourceRequest and waits until it is granted. */
export async function askForCapacity(cluster: WorldCluster, { name, cpu, memory }: Wanted) {
  await cluster.client.create(RESOURCE_REQUESTS, {
    apiVersion: "rear.fluidos.eu/v1alpha1",
    kind: "ResourceRequest",
    metadata: { name, namespace: "default" },
    spec: { requestedCPU: cpu, requestedMemory: memory, duration: "1h" },
  });
  const { status } = await cluster.until(RESOURCE_REQUESTS, name, (request) =>
    ["Reserved", "Active", "Failed"].includes(request.status?.phase ?? ""),
  );
  return { reservation: status?.reservationName ?? "", provider: status?.targetClusterID ?? "" };
}
