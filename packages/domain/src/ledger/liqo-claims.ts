import type { Advertisement } from "../advertisement/advertisement.ts";
import type { ClusterId } from "../reservation/ids.ts";
import { type Outcome, rejected } from "./command.ts";
import type { Ledger, LedgerView } from "./ledger.ts";
import { isEvicted } from "./member.ts";

/** Keeps the index of Liqo IDs when the advertisement of a cluster is replaced. */
export function moveClaim(
  { liqoClaims }: Ledger,
  before: Advertisement | undefined,
  { clusterId, liqo }: Advertisement,
): void {
  const [old, claimed] = [before?.liqo?.clusterId, liqo?.clusterId];
  if (old === claimed) return;
  if (old !== undefined) {
    const others = (liqoClaims.get(old) ?? []).filter((id) => id !== clusterId);
    if (others.length === 0) liqoClaims.delete(old);
    else liqoClaims.set(old, others);
  }
  if (claimed !== undefined) liqoClaims.set(claimed, [...(liqoClaims.get(claimed) ?? []), clusterId]);
}

/** A Liqo ID belongs to the first cluster that advertised it, until that one is evicted, or advertises another or none. */
export function claimProblem(ledger: LedgerView, { clusterId, liqo }: Advertisement): Outcome | undefined {
  const holder = liqo === undefined ? undefined : liqoHolderOf(ledger, liqo.clusterId);
  if (liqo === undefined || holder === undefined || holder === clusterId) return undefined;
  return rejected(
    "liqo-id-taken",
    `Liqo cluster ID ${liqo.clusterId} belongs to ${holder}; if ${clusterId} is its successor: brokerctl evict ${holder}`,
  );
}

/**
 * The cluster that a Liqo ID belongs to. Of several, which an eviction can leave: the one heard last, since only the holder's advertisements were accepted. Those
 * of the same millisecond are told apart by name, so that every copy of the ledger finds the same one.
 */
export function liqoHolderOf(ledger: LedgerView, liqoId: string): ClusterId | undefined {
  const claims = (ledger.liqoClaims.get(liqoId) ?? []).filter((id) => !isEvicted(ledger, id));
  const heardAt = (id: ClusterId): number => ledger.accounts.get(id)?.receivedAt ?? 0;
  return claims.sort((a, b) => heardAt(b) - heardAt(a) || (a < b ? -1 : 1))[0];
}
