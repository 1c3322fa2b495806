import type {
  AccountView,
  Advertisement,
  ClusterId,
  Instant,
  LedgerView,
  ResourceVector,
} from "@resource-broker/domain";

interface Seen {
  readonly advertisement: Advertisement;
  readonly reserved: ResourceVector;
  readonly available: ResourceVector;
  readonly cordon: AccountView["cordon"];
  readonly isStale: boolean;
}

export interface AccountNews {
  readonly account: AccountView;
  /** True if endpoint or data plane identity changed, which the views of its reservations show. */
  readonly isMoved: boolean;
}

export interface AccountMoment {
  readonly now: Instant;
  readonly stalenessMs: number;
}

/**
 * Returns the accounts that changed since the last poll. Advertisements are not commits, and staleness has no event. A poll
 * compares references, so ten thousand clusters take a millisecond.
 */
export function accountWatch(): (ledger: LedgerView, moment: AccountMoment) => readonly AccountNews[] {
  const seen = new Map<ClusterId, Seen>();
  return ({ accounts }, { now, stalenessMs }) => {
    const news: AccountNews[] = [];
    for (const account of accounts.values()) {
      const { clusterId, advertisement, reserved, available, cordon, receivedAt } = account;
      if (advertisement === undefined) continue;
      const isStale = now - receivedAt > stalenessMs;
      const before = seen.get(clusterId);
      const current = { advertisement, reserved, available, cordon, isStale };
      if (before !== undefined && isSame(before, current)) continue;
      seen.set(clusterId, current);
      news.push({ account, isMoved: before !== undefined && isMoved(before.advertisement, advertisement) });
    }
    return news;
  };
}

function isSame(a: Seen, b: Seen): boolean {
  return (
    a.advertisement === b.advertisement &&
    a.reserved === b.reserved &&
    a.available === b.available &&
    a.cordon === b.cordon &&
    a.isStale === b.isStale
  );
}

function isMoved(a: Advertisement, b: Advertisement): boolean {
  return (
    a.endpointUrl !== b.endpointUrl || a.liqo?.clusterId !== b.liqo?.clusterId || a.protocol !== b.protocol
  );
}
