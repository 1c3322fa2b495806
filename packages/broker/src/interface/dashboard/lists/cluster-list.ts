import { isZero } from "@resource-broker/base";
import {
  CLUSTER_SORTS,
  CLUSTER_STATES,
  type ClusterSort,
  type ClusterState,
  type UiCapacity,
  type UiFleet,
} from "@resource-broker/contract/dashboard";
import type { LedgerView } from "@resource-broker/domain";
import {
  type AdvertisedAccount,
  hasAdvertised,
  isStale,
  type Moment,
  regionOf,
} from "../../shared/advertised-account.ts";
import { inPolicyCurrency } from "../money.ts";
import { addAmounts, amountsOf, NO_AMOUNTS } from "../views/amounts.ts";
import { clusterView, unitPrices } from "../views/cluster-view.ts";
import {
  type ListQuery,
  oneOf,
  type Parameters,
  readListQuery,
  type SortKey,
  sortRows,
} from "./list-query.ts";

export interface ClusterQuery extends ListQuery<ClusterSort> {
  readonly state: ClusterState | undefined;
}

export function readClusterQuery(parameters: Parameters): ClusterQuery {
  const rules = { sorts: CLUSTER_SORTS, defaultSort: "id", defaultOrder: "asc" } as const;
  return { ...readListQuery(parameters, rules), state: oneOf(parameters, "state", CLUSTER_STATES) };
}

/** One page of the fleet, and the totals of all that match. Only the rows of the page are written out. */
export function clusterPage(
  ledger: LedgerView,
  {
    query,
    moment,
    commit,
  }: { readonly query: ClusterQuery; readonly moment: Moment; readonly commit: number },
): UiFleet {
  const matching = Array.from(ledger.accounts.values())
    .filter(hasAdvertised)
    .filter((account) => isWanted(account, query, moment));
  const keyOf = (account: AdvertisedAccount): SortKey => KEYS[query.sort](account, moment);
  const { isDescending, offset, limit } = query;
  const sorted = sortRows(matching, keyOf, { nameOf: ({ clusterId }) => clusterId, isDescending });
  return {
    rows: sorted.slice(offset, offset + limit).map((account) => clusterView(account, moment)),
    total: sorted.length,
    offset,
    commit,
    totals: totalsOf(matching, moment),
  };
}

const KEYS: Readonly<Record<ClusterSort, (account: AdvertisedAccount, moment: Moment) => SortKey>> = {
  id: ({ clusterId }) => clusterId,
  region: ({ advertisement }) => regionOf(advertisement) || null,
  cpu: ({ available }) => available.cpuMillis,
  memory: ({ available }) => available.memoryBytes,
  gpu: ({ available }) => available.gpus,
  price: (account, moment) => unitPrices(account, moment)?.cpu ?? null,
  heard: ({ receivedAt }) => receivedAt,
  lends: ({ asProvider }) => asProvider.size,
  borrows: ({ asRequester }) => asRequester.size,
};

function isWanted(account: AdvertisedAccount, { state, text }: ClusterQuery, moment: Moment): boolean {
  if (state !== undefined && !isIn(state, account, moment)) return false;
  return text === "" || matchesText(account, text);
}

function isIn(state: ClusterState, account: AdvertisedAccount, moment: Moment): boolean {
  switch (state) {
    case "ready":
      return isReady(account, moment);
    case "stale":
      return isStale(account, moment);
    case "cordoned":
      return account.cordon !== undefined;
    case "overcommitted":
      return !isZero(account.overcommitted);
  }
}

/** True if the cluster can get reservations. */
function isReady(account: AdvertisedAccount, moment: Moment): boolean {
  return account.cordon === undefined && !isStale(account, moment) && isZero(account.overcommitted);
}

function matchesText({ clusterId, advertisement }: AdvertisedAccount, text: string): boolean {
  const has = (words: string): boolean => words.toLowerCase().includes(text);
  if (has(clusterId) || has(advertisement.clusterName ?? "")) return true;
  return Object.entries(advertisement.labels).some(([name, value]) => has(`${name}=${value}`));
}

const NOTHING: UiCapacity = {
  allocatable: NO_AMOUNTS,
  allocated: NO_AMOUNTS,
  reserved: NO_AMOUNTS,
  available: NO_AMOUNTS,
};

function totalsOf(matching: readonly AdvertisedAccount[], moment: Moment): UiFleet["totals"] {
  let [ready, live, spend] = [0, 0, 0];
  let capacity = NOTHING;
  const { prices } = moment.policy;
  for (const account of matching) {
    if (isReady(account, moment)) ready++;
    if (!isStale(account, moment)) capacity = withAccount(capacity, account);
    live += account.asProvider.size;
    for (const { cost } of account.asProvider.values()) spend += inPolicyCurrency(cost, prices) ?? 0;
  }
  const spendPerHour = { amount: spend, currency: prices.currency };
  return { clusters: matching.length, ready, capacity, live, spendPerHour };
}

function withAccount(
  total: UiCapacity,
  { advertisement, reserved, available }: AdvertisedAccount,
): UiCapacity {
  return {
    allocatable: addAmounts(total.allocatable, amountsOf(advertisement.allocatable)),
    allocated: addAmounts(total.allocated, amountsOf(advertisement.allocated)),
    reserved: addAmounts(total.reserved, amountsOf(reserved)),
    available: addAmounts(total.available, amountsOf(available)),
  };
}
