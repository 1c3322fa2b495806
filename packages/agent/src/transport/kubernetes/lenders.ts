import { clusterAdvertisementName } from "@resource-broker/contract";
import { type Reflector, reflector, type ReflectorDeps } from "@resource-broker/kube";
import type { ObjectScope } from "./forge.ts";
import { CLUSTER_ADVERTISEMENTS } from "./resources.ts";
import { type RiskDeps, riskWatch } from "./risk-watch.ts";

/** Each is a separate watch: with more providers, only the first ones are watched. */
const MAX_PROVIDER_WATCHES = 16;

/** Watches the advertisements of the providers of this cluster's reservations, to report risks. */
export interface ProviderWatches {
  /** Replaces the set of watched clusters. */
  readonly set: (clusterIds: ReadonlySet<string>) => void;
  readonly stop: () => Promise<void>;
}

export interface ProviderWatchesDeps extends ReflectorDeps, Pick<RiskDeps, "onRisk"> {
  readonly reservationsFrom: (clusterId: string) => readonly string[];
}

export function createProviderWatches(
  { namespace }: Pick<ObjectScope, "namespace">,
  deps: ProviderWatchesDeps,
): ProviderWatches {
  const followers = new Map<string, Reflector>();
  const ending = new Set<Promise<void>>();
  let isStopped = false;

  const begin = (clusterId: string): void => {
    const fieldSelector = `metadata.name=${clusterAdvertisementName(clusterId)}`;
    const sink = riskWatch({ reservationIds: () => deps.reservationsFrom(clusterId), onRisk: deps.onRisk });
    const follower = reflector({ resource: CLUSTER_ADVERTISEMENTS, namespace, fieldSelector }, sink, deps);
    followers.set(clusterId, follower);
    void follower.start().catch(() => undefined);
  };

  const end = (clusterId: string, follower: Reflector): void => {
    followers.delete(clusterId);
    const stopped = follower.stop().finally(() => ending.delete(stopped));
    ending.add(stopped);
  };

  return {
    set: (clusterIds) => {
      if (isStopped) return;
      for (const [clusterId, follower] of followers) if (!clusterIds.has(clusterId)) end(clusterId, follower);
      for (const clusterId of clusterIds) {
        if (followers.size < MAX_PROVIDER_WATCHES && !followers.has(clusterId)) begin(clusterId);
      }
    },
    stop: async () => {
      isStopped = true;
      for (const [clusterId, follower] of followers) end(clusterId, follower);
      await Promise.all(ending);
    },
  };
}
