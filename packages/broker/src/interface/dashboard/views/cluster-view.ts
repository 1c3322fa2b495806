import {
  describeResources,
  fits,
  formatTime,
  isZero,
  type ResourceVector,
  resourceVector,
} from "@resource-broker/base";
import type { UiCluster, UiCondition } from "@resource-broker/contract/dashboard";
import { hourlyPrice, priceQueryFor } from "@resource-broker/domain";
import {
  type AdvertisedAccount,
  dataPlaneId,
  isStale,
  type Moment,
  regionOf,
} from "../../shared/advertised-account.ts";
import { amountsOf } from "./amounts.ts";

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

/** A cluster as the pages show it. Texts of clusters stay data; no HTML is built here. */
export function clusterView(account: AdvertisedAccount, moment: Moment): UiCluster {
  const { clusterId, advertisement, cordon } = account;
  return {
    id: clusterId,
    name: advertisement.clusterName ?? clusterId,
    region: regionOf(advertisement),
    labels: advertisement.labels,
    capacity: {
      allocatable: amountsOf(advertisement.allocatable),
      allocated: amountsOf(advertisement.allocated),
      reserved: amountsOf(account.reserved),
      available: amountsOf(account.available),
    },
    gpus: advertisement.gpuModels.map(({ model, count }) => ({ model, count })),
    heardAt: formatTime(account.receivedAt),
    isStale: isStale(account, moment),
    isCordoned: cordon !== undefined,
    conditions: conditionsOf(account, moment),
    price: unitPrices(account, moment),
    liqoID: dataPlaneId(advertisement) ?? null,
    lends: account.asProvider.size,
    borrows: account.asRequester.size,
  };
}

function conditionsOf(account: AdvertisedAccount, moment: Moment): UiCondition[] {
  const { cordon, overcommitted, receivedAt } = account;
  const conditions: UiCondition[] = [];
  if (isStale(account, moment)) {
    const message = `No advertisement since ${formatTime(receivedAt)}: the cluster gets no new reservations.`;
    conditions.push({
      type: "Stale",
      message,
      since: formatTime(receivedAt + moment.policy.stalenessMs),
    });
  }
  if (cordon !== undefined) {
    const why = cordon.why === undefined ? "" : `: ${cordon.why}`;
    const message = `Cordoned by ${cordon.by}${why}. Existing reservations stay; the cluster gets no new ones.`;
    conditions.push({ type: "Cordoned", message, since: formatTime(cordon.at) });
  }
  if (!isZero(overcommitted)) {
    const message = `Its reservations exceed its capacity by ${describeResources(overcommitted)}.`;
    conditions.push({ type: "Overcommitted", message });
  }
  const overused = overuseOf(account);
  if (overused.length > 0) {
    const [first = ""] = overused;
    const others = overused.length === 1 ? "" : ` and ${overused.length - 1} more`;
    conditions.push({ type: "Overuse", message: `More is used than was granted: ${first}${others}.` });
  }
  return conditions;
}

/** The reservations whose pods request more than they were granted. */
function overuseOf({ asProvider, usage }: AdvertisedAccount): string[] {
  const overused: string[] = [];
  for (const [id, { used }] of usage) {
    const granted = asProvider.get(id)?.granted;
    if (granted !== undefined && !fits(used, granted)) overused.push(id);
  }
  return overused;
}
