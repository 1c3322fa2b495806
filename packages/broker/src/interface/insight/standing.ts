import {
  describeResources,
  fits,
  formatTime,
  inBaseUnits,
  isZero,
  knownResource,
  RESOURCES,
  type ResourceVector,
  resourceVector,
  slotOf,
} from "@resource-broker/base";
import {
  type AdvertisementDTO,
  type AmountsDTO,
  fromAdvertisement,
  toQuantities,
} from "@resource-broker/contract";
import { type Cordon, hourlyPrice, priceQueryFor } from "@resource-broker/domain";
import { type AdvertisedAccount, isStale, type Moment, staleMessage } from "../shared/advertised-account.ts";

/** Of the resources that are known by name; those of which there is none are left out, but for three. */
export function amountsOf(vector: ResourceVector): AmountsDTO {
  const known = inBaseUnits(vector).filter(([name]) => knownResource(name) !== undefined);
  return { cpu: 0, memory: 0, gpu: 0, ...Object.fromEntries(known) };
}

type Standing = NonNullable<AdvertisementDTO["standing"]>;
type Condition = NonNullable<Standing["conditions"]>[number];

/** What one price is for. */
const PRICED_UNITS = RESOURCES.map(({ name, form }) => {
  const slot = slotOf(name);
  const unit = slot === undefined ? { extended: { [name]: form.perPrice } } : { [slot]: form.perPrice };
  return [name, resourceVector(unit)] as const;
});

/** An advertisement with how the broker sees its cluster. */
export function renderCluster(account: AdvertisedAccount, moment: Moment): AdvertisementDTO {
  return {
    ...fromAdvertisement(account.advertisement, account),
    standing: standingOf(account, moment),
  };
}

function standingOf(account: AdvertisedAccount, moment: Moment): Standing {
  const { receivedAt, cordon, withheld, asProvider, asRequester } = account;
  const conditions = conditionsOf(account, moment);
  const price = unitPrices(account, moment);
  return {
    receivedAt: formatTime(receivedAt),
    isStale: isStale(account, moment),
    ...(cordon === undefined ? {} : { cordon: cordonOf(cordon) }),
    ...(isZero(withheld) ? {} : { withheld: toQuantities(withheld) }),
    ...(conditions.length === 0 ? {} : { conditions }),
    ...(price === undefined ? {} : { price }),
    lends: asProvider.size,
    borrows: asRequester.size,
  };
}

function cordonOf({ by, at, why }: Cordon): NonNullable<Standing["cordon"]> {
  return { by, at: formatTime(at), ...(why === undefined ? {} : { reason: why }) };
}

/** Current unit prices of a cluster in the policy's currency, as a decision computes them; undefined: not priced. */
export function unitPrices(
  { clusterId, advertisement }: AdvertisedAccount,
  { now, policy }: Moment,
): Standing["price"] {
  const { prices } = policy;
  const byOperator = Object.hasOwn(prices.clusters, clusterId) ? prices.clusters[clusterId] : undefined;
  const model = byOperator ?? advertisement.cost;
  if (model === undefined) return undefined;
  const priced = PRICED_UNITS.flatMap(([name, unit]) => {
    const price = hourlyPrice(priceQueryFor(unit, { tier: "on-demand", at: now, prices }), model);
    return Number.isNaN(price) ? [] : [[name, price] as const];
  });
  return priced.length === 0 ? undefined : { ...Object.fromEntries(priced), currency: prices.currency };
}

function conditionsOf(account: AdvertisedAccount, moment: Moment): Condition[] {
  const { overcommitted, receivedAt } = account;
  const conditions: Condition[] = [];
  if (isStale(account, moment)) {
    const since = formatTime(receivedAt + moment.policy.stalenessMs);
    conditions.push({ type: "Stale", message: staleMessage(account), since });
  }
  conditions.push(...closedConditions(account));
  if (!isZero(overcommitted)) {
    const message = `Its reservations exceed its capacity by ${describeResources(overcommitted)}.`;
    conditions.push({ type: "Overcommitted", message });
  }
  const [first, ...others] = overused(account);
  if (first !== undefined) {
    const more = others.length === 0 ? "" : ` and ${others.length} more`;
    conditions.push({ type: "Overuse", message: `More is used than was granted: ${first}${more}.` });
  }
  return conditions;
}

/** Why it gets no new reservations. Older readers know no condition for evictions, which have the effect of a cordon as well. */
function closedConditions({ cordon, evictedAt }: AdvertisedAccount): Condition[] {
  if (evictedAt !== undefined) {
    const message =
      "Evicted: calls of this cluster are refused. Existing reservations stay; it gets no new ones.";
    return [{ type: "Cordoned", message, since: formatTime(evictedAt) }];
  }
  if (cordon === undefined) return [];
  const why = cordon.why === undefined ? "" : `: ${cordon.why}`;
  const message = `Cordoned by ${cordon.by}${why}. Existing reservations stay; the cluster gets no new ones.`;
  return [{ type: "Cordoned", message, since: formatTime(cordon.at) }];
}

/** The reservations whose pods request more than they were granted. */
function overused({ asProvider, usage }: AdvertisedAccount): string[] {
  return [...usage].flatMap(([id, { used }]) => {
    const granted = asProvider.get(id)?.granted;
    return granted === undefined || fits(used, granted) ? [] : [id];
  });
}
