import type { ClusterPlan } from "@resource-broker/testkit";
import { generatedCluster } from "./generated-fleet.ts";
import { SMALL_FLEET, WINNER } from "./small-fleet.ts";

export interface FleetSize {
  readonly clusters: number;
  /** Of each cluster; 0: as it comes. */
  readonly nodes: number;
}

export interface Fleet {
  /** The first is the one that is short. */
  readonly plans: readonly ClusterPlan[];
  /** Who lends to it best; undefined: that is for the broker to say. */
  readonly provider: string | undefined;
  readonly hasGpus: boolean;
}

export const DEFAULT_CLUSTERS = SMALL_FLEET.length;
const USUAL_NODES = 3;

/** The four clusters that everybody knows, and more of them when more are asked for. */
export function planFleet({ clusters, nodes }: FleetSize): Fleet {
  const plans = Array.from({ length: clusters }, (_, index) => {
    const known = nodes === 0 ? SMALL_FLEET[index] : undefined;
    return known ?? generatedCluster(index, nodes || USUAL_NODES);
  });
  const isSmall = nodes === 0 && clusters <= SMALL_FLEET.length;
  return {
    plans,
    provider: isSmall ? WINNER : undefined,
    hasGpus: plans.some((plan) => plan.nodes.some(({ gpus }) => gpus !== undefined)),
  };
}
