import type { UiCluster } from "@resource-broker/contract";
import { hourlyPrice, priceQueryFor, type ResourceVector, resourceVector } from "@resource-broker/domain";
import type { AdvertisedAccount, Moment } from "./advertised-account.ts";

const ONE_CPU = resourceVector({ cpuMillis: 1000 });
const ONE_GB = resourceVector({ memoryBytes: 1e9 });
const ONE_GPU = resourceVector({ gpus: 1 });

/** Current unit prices of a cluster in the policy's currency, as a decision computes them. */
export function unitPrices(
  { clusterId, advertisement }: AdvertisedAccount,
  { now, policy }: Moment,
): UiCluster["price"] {
  const { prices } = policy;
  const byOperator = Object.hasOwn(prices.clusters, clusterId) ? prices.clusters[clusterId] : undefined;
  const model = byOperator ?? advertisement.cost;
  if (model === undefined) return null;
  const priceOf = (resources: ResourceVector): number | null => {
    const price = hourlyPrice(priceQueryFor(resources, { tier: "on-demand", at: now, prices }), model);
    return Number.isNaN(price) ? null : price;
  };
  const price = { cpu: priceOf(ONE_CPU), memory: priceOf(ONE_GB), gpu: priceOf(ONE_GPU) };
  const isPriced = price.cpu !== null || price.memory !== null || price.gpu !== null;
  return isPriced ? { ...price, currency: prices.currency } : null;
}
