import { add, fits, NO_RESOURCES, type ResourceVector, subtract } from "@resource-broker/base";
import type { AccountView } from "../ledger/account.ts";
import { holdingsOf, type LedgerView } from "../ledger/ledger.ts";
import type { ClusterId, Instant } from "../reservation/ids.ts";

/** What a provider has free, and gets back as its reservations end. */
interface Timeline {
  /** Below zero where it has promised more than it has. */
  readonly free: ResourceVector;
  /** If nobody had reserved anything. */
  readonly whenEmpty: ResourceVector;
  /** The ends that are known, in order, each with all that is given back by then. */
  readonly ends: readonly { readonly at: Instant; readonly returned: ResourceVector }[];
}

/** When a request could start at a provider. */
export interface Start {
  readonly provider: ClusterId;
  readonly from: Instant;
  /** What ends later than this does not count. */
  readonly returnedBy: Instant;
  readonly returning: ResourceVector;
}

interface CachedTimeline extends Pick<AccountView, "advertisement" | "withheld"> {
  readonly timeline: Timeline;
}

/** By the sum of what is reserved: every change of a provider's reservations makes a new one. */
const cache = /* @__PURE__ */ new WeakMap<ResourceVector, CachedTimeline>();

function timelineOf(ledger: LedgerView, account: AccountView): Timeline {
  const { advertisement, withheld, reserved } = account;
  const known = cache.get(reserved);
  const isCurrent = known?.advertisement === advertisement && known?.withheld === withheld;
  if (known !== undefined && isCurrent) return known.timeline;
  const timeline = computeTimeline(ledger, account);
  // Accounts that nobody has reserved anything of may share a sum.
  if (account.reservationCount > 0) cache.set(reserved, { advertisement, withheld, timeline });
  return timeline;
}

function computeTimeline(ledger: LedgerView, account: AccountView): Timeline {
  const free = freeOf(account);
  const ending: { readonly at: Instant; readonly amount: ResourceVector }[] = [];
  let whenEmpty = free;
  for (const { amount, endsAt } of holdingsOf(ledger, account)) {
    whenEmpty = add(whenEmpty, amount);
    if (endsAt !== undefined) ending.push({ at: endsAt, amount });
  }
  let returned = NO_RESOURCES;
  const ends = ending
    .sort((a, b) => a.at - b.at)
    .map(({ at, amount }) => {
      returned = add(returned, amount);
      return { at, returned };
    });
  return { free, whenEmpty, ends };
}

/** Unclamped: below zero where it has promised more than it has. */
export function freeOf({ advertisement, withheld, reserved }: AccountView): ResourceVector {
  if (advertisement === undefined) return NO_RESOURCES;
  const { allocatable, allocated } = advertisement;
  return subtract(subtract(subtract(allocatable, allocated), withheld), reserved);
}

/** True when the provider could serve this if nobody had reserved anything there. */
export function couldServe(ledger: LedgerView, provider: ClusterId, resources: ResourceVector): boolean {
  const account = ledger.accounts.get(provider);
  return account !== undefined && fits(resources, timelineOf(ledger, account).whenEmpty);
}

/** When enough has been given back, by the ends that are known; undefined: they are not enough. Long ago where enough is free. */
export function roomBy(
  ledger: LedgerView,
  provider: ClusterId,
  resources: ResourceVector,
): Instant | undefined {
  const account = ledger.accounts.get(provider);
  const asked = { resources, now: Number.NEGATIVE_INFINITY, turnaroundMs: 0 };
  return account && startAt(ledger, account, asked)?.returnedBy;
}

/** The first moment at which enough has been given back, by the ends that are known; undefined: none is. */
export function startAt(
  ledger: LedgerView,
  account: AccountView,
  {
    resources,
    now,
    turnaroundMs,
  }: { readonly resources: ResourceVector; readonly now: Instant; readonly turnaroundMs: number },
): Start | undefined {
  const { free, ends } = timelineOf(ledger, account);
  const provider = account.clusterId;
  if (fits(resources, free)) return { provider, from: now, returnedBy: now, returning: NO_RESOURCES };
  for (const { at, returned } of ends) {
    if (!fits(resources, add(free, returned))) continue;
    return { provider, from: Math.max(now, at + turnaroundMs), returnedBy: at, returning: returned };
  }
  return undefined;
}
