import { type CapacityEventDTO, type ClusterAdvertisement, LIMIT, truncate } from "@resource-broker/contract";
import type { Sink } from "@resource-broker/kube";

const OVERCOMMITTED = "Overcommitted";

export interface RiskDeps {
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
