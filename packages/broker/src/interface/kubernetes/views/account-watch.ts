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
  /** Its reservations show where it is reached and under which name: that changed. */
  readonly isMoved: boolean;
}

export interface AccountMoment {
  readonly now: Instant;
  readonly stalenessMs: number;
}

/**
 * Which accounts have changed since the last look. Advertisements are soft state and no commit tells of them; and nobody
 * tells when one becomes stale. A look compares references, so that ten thousand clusters cost a millisecond.
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
