import { apiVersionOf, type ResourceRequest, resourceRequestKind } from "@resource-broker/contract/crd";
import { RESOURCE_REQUESTS, until, type WorldCluster } from "@resource-broker/testkit";
import type { TestRequest } from "./snapshot.ts";

/** How many a cluster keeps: enough to lose one, and far from all that the others can lend. */
const KEPT = 4;

/** The ResourceRequests of a campaign. They are made beside the way that is harmed. */
export interface Requests {
  /** One more in this cluster, for something of that lender. */
  readonly make: (cluster: string, provider: string) => Promise<TestRequest>;
  /** Takes the oldest ones of this cluster back, if it has more than it keeps. */
  readonly deleteOldest: (cluster: string) => Promise<void>;
  readonly all: () => readonly TestRequest[];
}

export function requestsIn(clusters: ReadonlyMap<string, WorldCluster>): Requests {
  const requests: TestRequest[] = [];
  const clusterOf = (name: string): WorldCluster => {
    const cluster = clusters.get(name);
    if (cluster === undefined) throw new Error(`there is no cluster ${name}`);
    return cluster;
  };
  return {
    make: async (cluster, provider) => {
      const place = clusterOf(cluster);
      const name = `wish-${requests.length + 1}`;
      const request = { uid: "", cluster, name, isWanted: true };
      const index = requests.push(request) - 1;
      // A server that has just come back may break the first connection.
      const made = await until(`${name} is made in ${cluster}`, async () => {
        const found = await place.find(RESOURCE_REQUESTS, name);
        return found ?? place.client.create(RESOURCE_REQUESTS, requestFor(name, provider));
      });
      requests[index] = { ...request, uid: made.metadata.uid ?? "" };
      return requests[index];
    },
    deleteOldest: async (cluster) => {
      const wanted = requests.filter((request) => request.cluster === cluster && request.isWanted);
      const place = clusterOf(cluster);
      for (const request of wanted.slice(0, Math.max(0, wanted.length - KEPT))) {
        requests[requests.indexOf(request)] = { ...request, isWanted: false };
        await until(`${request.name} is taken back in ${cluster}`, async () => {
          if ((await place.find(RESOURCE_REQUESTS, request.name)) === undefined) return true;
          await place.client.delete(RESOURCE_REQUESTS, { name: request.name, namespace: "default" });
          return true;
        });
      }
    },
    all: () => requests,
  };
}

function requestFor(name: string, targetClusterID: string): ResourceRequest {
  return {
    apiVersion: apiVersionOf(resourceRequestKind),
    kind: resourceRequestKind.kind,
    metadata: { name, namespace: "default" },
    spec: { requestedCPU: "1", requestedMemory: "1Gi", targetClusterID },
  };
}
