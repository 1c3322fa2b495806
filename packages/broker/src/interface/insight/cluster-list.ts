import { add, isZero, type KnownName, NO_RESOURCES, type ResourceVector, sum } from "@resource-broker/base";
import {
  type AdvertisementPageDTO,
  CLUSTER_SORTS,
  CLUSTER_STATES,
  type ClusterSort,
  type ClusterState,
  type FlowsDTO,
} from "@resource-broker/contract";
import type { LedgerView } from "@resource-broker/domain";
import { type ListQuery, oneOf, type Query, readListQuery, type SortKey, sortRows } from "../http/query.ts";
import {
  type AdvertisedAccount,
  hasAdvertised,
  isStale,
  type Moment,
  regionOf,
} from "../shared/advertised-account.ts";
import { amountsOf, renderCluster, unitPrices } from "./standing.ts";
import { inPolicyCurrency } from "./money.ts";

const MAX_FLOWS = 500;

type Flow = FlowsDTO["flows"][number];

/** Current flows from providers to requesters, the largest of one resource first. */
export function flowsOf(ledger: LedgerView, resource: KnownName): FlowsDTO {
  const all = sumsOf(ledger).sort(
    (a, b) => (b.amounts[resource] ?? 0) - (a.amounts[resource] ?? 0) || (keyOf(a) < keyOf(b) ? -1 : 1),
  );
  const flows = all.slice(0, MAX_FLOWS);
  return { flows, left: all.length - flows.length };
}

function sumsOf({ accounts }: LedgerView): Flow[] {
  const flows: Flow[] = [];
  for (const { clusterId: provider, asProvider } of accounts.values()) {
    const granted = new Map<string, ResourceVector[]>();
    for (const reservation of asProvider.values()) {
      const { requester } = reservation;
      const before = granted.get(requester);
      if (before === undefined) granted.set(requester, [reservation.granted]);
      else before.push(reservation.granted);
    }
    for (const [requester, each] of granted)
      flows.push({ provider, requester, amounts: amountsOf(sum(each)), reservations: each.length });
  }
  return flows;
}

function keyOf({ provider, requester }: Flow): string {
  return `${provider} ${requester}`;
}

export interface ClusterQuery extends ListQuery<ClusterSort> {
  readonly state: ClusterState | undefined;
}

export function readClusterQuery(query: Query): ClusterQuery {
  return {
    ...readListQuery(query, { sorts: CLUSTER_SORTS, defaultSort: "id" }),
    state: oneOf(query, "state", CLUSTER_STATES),
  };
}

/** One page of the fleet, and the totals of all that match. Only the rows of the page are written out. */
export function clusterPage(ledger: LedgerView, query: ClusterQuery, moment: Moment): AdvertisementPageDTO {
  const matching = Array.from(ledger.accounts.values())
    .filter(hasAdvertised)
    .filter((account) => isWanted(account, query, moment));
  const keyOf = (account: AdvertisedAccount): SortKey => KEYS[query.sort](account, moment);
  const { isDescending, offset, limit } = query;
  const sorted = sortRows(matching, keyOf, { nameOf: ({ clusterId }) => clusterId, isDescending });
  return {
    items: sorted.slice(offset, offset + limit).map((account) => renderCluster(account, moment)),
    total: sorted.length,
    totals: totalsOf(matching, moment),
  };
}

const KEYS: Readonly<Record<ClusterSort, (account: AdvertisedAccount, moment: Moment) => SortKey>> = {
  id: ({ clusterId }) => clusterId,
  region: ({ advertisement }) => regionOf(advertisement) || undefined,
  cpu: ({ available }) => available.cpuMillis,
  memory: ({ available }) => available.memoryBytes,
  gpu: ({ available }) => available.gpus,
  price: (account, moment) => unitPrices(account, moment)?.cpu,
  heard: ({ receivedAt }) => receivedAt,
  lends: ({ asProvider }) => asProvider.size,
  borrows: ({ asRequester }) => asRequester.size,
};

function isWanted(account: AdvertisedAccount, { state, text }: ClusterQuery, moment: Moment): boolean {
  if (state !== undefined && !STATES[state](account, moment)) return false;
  return text === "" || matchesText(account, text);
}

const STATES: Readonly<Record<ClusterState, (account: AdvertisedAccount, moment: Moment) => boolean>> = {
  ready: isReady,
  stale: isStale,
  cordoned: isClosed,
  overcommitted: ({ overcommitted }) => !isZero(overcommitted),
};

/** Its condition says which of the two. */
function isClosed({ cordon, evictedAt }: AdvertisedAccount): boolean {
  return cordon !== undefined || evictedAt !== undefined;
}

/** True if the cluster can get reservations. */
function isReady(account: AdvertisedAccount, moment: Moment): boolean {
  return !isClosed(account) && !isStale(account, moment) && isZero(account.overcommitted);
}

function matchesText({ clusterId, advertisement }: AdvertisedAccount, text: string): boolean {
  const has = (words: string): boolean => words.toLowerCase().includes(text);
  if (has(clusterId) || has(advertisement.clusterName ?? "")) return true;
  return Object.entries(advertisement.labels).some(([name, value]) => has(`${name}=${value}`));
}

/** Stale clusters lend nothing and are left out of the amounts. */
function totalsOf(
  matching: readonly AdvertisedAccount[],
  moment: Moment,
): NonNullable<AdvertisementPageDTO["totals"]> {
  const { prices } = moment.policy;
  let [allocatable, allocated, reserved, available] = [
    NO_RESOURCES,
    NO_RESOURCES,
    NO_RESOURCES,
    NO_RESOURCES,
  ];
  let [ready, live, perHour] = [0, 0, 0];
  for (const account of matching) {
    const { advertisement, asProvider } = account;
    if (isReady(account, moment)) ready++;
    live += asProvider.size;
    for (const { cost } of asProvider.values()) perHour += inPolicyCurrency(cost, prices) ?? 0;
    if (isStale(account, moment)) continue;
    allocatable = add(allocatable, advertisement.allocatable);
    allocated = add(allocated, advertisement.allocated);
    reserved = add(reserved, account.reserved);
    available = add(available, account.available);
  }
  return {
    ready,
    allocatable: amountsOf(allocatable),
    allocated: amountsOf(allocated),
    reserved: amountsOf(reserved),
    available: amountsOf(available),
    live,
    perHour,
    currency: prices.currency,
  };
}
