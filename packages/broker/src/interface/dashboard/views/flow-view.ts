import { sum } from "@resource-broker/base";
import type { UiAmounts, UiFlow, UiFlows, UiResource } from "@resource-broker/contract/dashboard";
import type { LedgerView, Reservation } from "@resource-broker/domain";
import { isStale, type Moment } from "../../shared/advertised-account.ts";
import { addAmounts, amountsOf, NO_AMOUNTS } from "./amounts.ts";

const MAX_EDGES = 500;

interface Node {
  lends: UiAmounts;
  borrows: UiAmounts;
}

/** Current flows from providers to requesters, the largest of one resource first. */
export function flowView(
  ledger: LedgerView,
  moment: Moment,
  { resource, commit }: { readonly resource: UiResource; readonly commit: number },
): UiFlows {
  const all = edgesOf(ledger).sort(
    (a, b) => b.amounts[resource] - a.amounts[resource] || compareText(keyOf(a), keyOf(b)),
  );
  const edges = all.slice(0, MAX_EDGES);
  return { commit, nodes: nodesOf(edges, ledger, moment), edges, left: all.length - edges.length };
}

function edgesOf({ accounts }: LedgerView): UiFlow[] {
  const edges: UiFlow[] = [];
  for (const { clusterId: provider, asProvider } of accounts.values()) {
    const byRequester = new Map<string, Reservation[]>();
    for (const reservation of asProvider.values()) {
      const others = byRequester.get(reservation.requester);
      if (others === undefined) byRequester.set(reservation.requester, [reservation]);
      else others.push(reservation);
    }
    for (const [requester, reservations] of byRequester)
      edges.push(edgeOf(provider, requester, reservations));
  }
  return edges;
}

function edgeOf(provider: string, requester: string, reservations: readonly Reservation[]): UiFlow {
  const amounts = amountsOf(sum(reservations.map(({ granted }) => granted)));
  return { provider, requester, amounts, reservations: reservations.length };
}

function nodesOf(edges: readonly UiFlow[], { accounts }: LedgerView, moment: Moment): UiFlows["nodes"] {
  const nodes = new Map<string, Node>();
  const nodeOf = (id: string): Node => {
    const node = nodes.get(id) ?? { lends: NO_AMOUNTS, borrows: NO_AMOUNTS };
    nodes.set(id, node);
    return node;
  };
  for (const { provider, requester, amounts } of edges) {
    const [from, to] = [nodeOf(provider), nodeOf(requester)];
    from.lends = addAmounts(from.lends, amounts);
    to.borrows = addAmounts(to.borrows, amounts);
  }
  return Array.from(nodes, ([id, node]) => {
    const account = accounts.get(id);
    return { id, ...node, isStale: account?.advertisement !== undefined && isStale(account, moment) };
  });
}

function keyOf({ provider, requester }: UiFlow): string {
  return `${provider} ${requester}`;
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
