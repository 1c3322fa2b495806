import type { ResourceVector } from "@resource-broker/base";
import type { AccountView, Advertisement, ClusterId, Instant, LedgerView } from "@resource-broker/domain";
import { dataPlaneId } from "../../shared/advertised-account.ts";

interface AccountSnapshot {
  readonly advertisement: Advertisement;
  readonly reserved: ResourceVector;
  readonly available: ResourceVector;
  readonly cordon: AccountView["cordon"];
  readonly isStale: boolean;
}

export interface AccountChange {
  readonly account: AccountView;
  /** True if endpoint or data plane identity changed, which the views of its reservations show. */
  readonly isEndpointChanged: boolean;
}

export interface AccountMoment {
  readonly now: Instant;
  readonly stalenessMs: number;
}

/**
 * Returns the accounts that changed since the last poll. Advertisements are not commits, and staleness has no event. A poll
 * compares references, so ten thousand clusters take a millisecond.
 */
export function accountWatch(): (ledger: LedgerView, moment: AccountMoment) => readonly AccountChange[] {
  const seen = new Map<ClusterId, AccountSnapshot>();
  return ({ accounts }, { now, stalenessMs }) => {
    const changes: AccountChange[] = [];
    for (const account of accounts.values()) {
      const { clusterId, advertisement, reserved, available, cordon, receivedAt } = account;
      if (advertisement === undefined) continue;
      const isStale = now - receivedAt > stalenessMs;
      const before = seen.get(clusterId);
      const current = { advertisement, reserved, available, cordon, isStale };
      if (before !== undefined && isSame(before, current)) continue;
      seen.set(clusterId, current);
      changes.push({
        account,
        isEndpointChanged: before !== undefined && isEndpointChanged(before.advertisement, advertisement),
      });
    }
    return changes;
  };
}

function isSame(a: AccountSnapshot, b: AccountSnapshot): boolean {
  return (
    a.advertisement === b.advertisement &&
    a.reserved === b.reserved &&
    a.available === b.available &&
    a.cordon === b.cordon &&
    a.isStale === b.isStale
  );
}

function isEndpointChanged(a: Advertisement, b: Advertisement): boolean {
  return a.endpointUrl !== b.endpointUrl || dataPlaneId(a) !== dataPlaneId(b) || a.protocol !== b.protocol;
}
