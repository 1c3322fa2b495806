import type { ClusterId, Instant, LedgerView } from "@resource-broker/domain";
import { hasAdvertised, isStale, type Moment } from "../views/advertised-account.ts";

interface Seen {
  readonly receivedAt: Instant;
  readonly isStale: boolean;
}

/**
 * Which clusters spoke, or fell silent, since the last look. Advertisements are no commits, and nobody is told of a cluster that
 * says nothing: so somebody has to look, but only while a page is open. A thousand clusters take a tenth of a millisecond.
 */
export class SoftWatch {
  readonly #seen = new Map<ClusterId, Seen>();
  #hasLooked = false;

  /** The clusters that changed; the first look finds none. */
  look(ledger: LedgerView, moment: Moment): Set<ClusterId> {
    const changed = new Set<ClusterId>();
    const isFirst = !this.#hasLooked;
    this.#hasLooked = true;
    for (const account of ledger.accounts.values()) {
      if (!hasAdvertised(account)) continue;
      const { clusterId, receivedAt } = account;
      const before = this.#seen.get(clusterId);
      const now = isStale(account, moment);
      if (before?.receivedAt === receivedAt && before.isStale === now) continue;
      this.#seen.set(clusterId, { receivedAt, isStale: now });
      changed.add(clusterId);
    }
    return isFirst ? new Set() : changed;
  }
}
