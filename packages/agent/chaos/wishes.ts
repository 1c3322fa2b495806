import { apiVersionOf, type ResourceRequest, resourceRequestKind } from "@resource-broker/contract";
import { RESOURCE_REQUESTS, until, type WorldCluster } from "@resource-broker/testkit";
import type { Wish } from "./books.ts";

/** How many a cluster keeps: enough to lose one, and far from all that the others can lend. */
const KEPT = 4;

/** The ResourceRequests of a campaign. They are made beside the way that is harmed. */
export interface Wishes {
  /** One more in this cluster, for something of that lender. */
  readonly make: (cluster: string, lender: string) => Promise<Wish>;
  /** Takes the oldest ones of this cluster back, if it has more than it keeps. */
  readonly takeBack: (cluster: string) => Promise<void>;
  readonly all: () => readonly Wish[];
}

export function wishesIn(clusters: ReadonlyMap<string, WorldCluster>): Wishes {
  const wishes: Wish[] = [];
  const clusterOf = (name: string): WorldCluster => {
    const cluster = clusters.get(name);
    if (cluster === undefined) throw new Error(`there is no cluster ${name}`);
    return cluster;
  };
  return {
    make: async (cluster, lender) => {
      const place = clusterOf(cluster);
      const name = `wish-${wishes.length + 1}`;
      const wish = { uid: "", cluster, name, isWanted: true };
      const index = wishes.push(wish) - 1;
      // A server that has just come back may break the first connection.
      const made = await until(`${name} is made in ${cluster}`, async () => {
        const found = await place.find(RESOURCE_REQUESTS, name);
        return found ?? place.client.create(RESOURCE_REQUESTS, requestFor(name, lender));
      });
      wishes[index] = { ...wish, uid: made.metadata.uid ?? "" };
      return wishes[index];
    },
    takeBack: async (cluster) => {
      const wanted = wishes.filter((wish) => wish.cluster === cluster && wish.isWanted);
      const place = clusterOf(cluster);
      for (const wish of wanted.slice(0, Math.max(0, wanted.length - KEPT))) {
        wishes[wishes.indexOf(wish)] = { ...wish, isWanted: false };
        await until(`${wish.name} is taken back in ${cluster}`, async () => {
          if ((await place.find(RESOURCE_REQUESTS, wish.name)) === undefined) return true;
          await place.client.delete(RESOURCE_REQUESTS, { name: wish.name, namespace: "default" });
          return true;
        });
      }
    },
    all: () => wishes,
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
