import { truncate } from "@resource-broker/base";
import { type CapacityEventDTO, LIMIT } from "@resource-broker/contract";
import { type ClusterAdvertisement, clusterAdvertisementName } from "@resource-broker/contract/crd";
import { type Reflector, type ReflectorDeps, reflector, type Sink } from "@resource-broker/kube";
import { CLUSTER_ADVERTISEMENTS, type ObjectScope } from "./manifests.ts";

const OVERCOMMITTED = "Overcommitted";

interface RiskDeps {
  /** The reservations between that cluster and this one. */
  readonly reservationIds: () => readonly string[];
  readonly onRisk: (capacity: CapacityEventDTO) => void;
}

/** Reports when a cluster becomes overcommitted. The state at the first event is not reported. */
export function riskWatch({ reservationIds, onRisk }: RiskDeps): Sink<ClusterAdvertisement> {
  let before: string | undefined;
  return {
    beginList: () => undefined,
    endList: () => undefined,
    remove: () => undefined,
    put: ({ spec, status }) => {
      const condition = status?.conditions?.find(({ type }) => type === OVERCOMMITTED);
      if (condition === undefined) return;
      const isAtRisk = condition.status === "True";
      const now = isAtRisk ? condition.message : "";
      const isNews = before !== undefined && isAtRisk && now !== before;
      before = now;
      if (!isNews) return;
      const message = truncate(`${spec.clusterID}: ${now}`, LIMIT.reasonLength);
      onRisk({ change: "at-risk", reservationIDs: reservationIds().slice(0, LIMIT.capacityIds), message });
    },
  };
}

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
