import { parseAmount } from "@resource-broker/base";
import type { AdvertisementDTO, SomeQuantitiesDTO } from "@resource-broker/contract";
import { REGION_LABEL } from "@resource-broker/domain";
import type { ClusterState, ResourceShare } from "./update.ts";

type Resource = "cpu" | "memory" | "gpu";

/** A cluster as the broker sees it. */
export function clusterState(
  { clusterID, resources, labels, cost }: AdvertisementDTO,
  state: ClusterState["state"],
): ClusterState {
  const share = (name: Resource): ResourceShare => {
    const [all, inUse, lent, free] = [
      resources.allocatable,
      resources.allocated,
      resources.reserved,
      resources.available,
    ].map((quantities) => amountIn(quantities, name));
    // An overcommitted cluster has nothing free; the value is not negative.
    return { all: all ?? 0, inUse: inUse ?? 0, lent: lent ?? 0, free: Math.max(0, free ?? 0) };
  };
  return {
    name: clusterID,
    state,
    region: labels?.[REGION_LABEL],
    cpuMillis: share("cpu"),
    memoryBytes: share("memory"),
    gpus: share("gpu"),
    cpuPrice: cost?.cpuCost,
    currency: cost?.currency,
  };
}

function amountIn(quantities: SomeQuantitiesDTO | undefined, name: Resource): number {
  const text = quantities?.[name];
  if (text === undefined) return 0;
  const parsed = parseAmount(text, { unit: name === "cpu" ? "milli" : "one", rounding: "down" });
  return parsed.ok ? parsed.amount : 0;
}
