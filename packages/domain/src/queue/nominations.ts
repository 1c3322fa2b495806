import { amountOf, type ResourceVector, resourceNames, shortage } from "@resource-broker/base";
import type { DecisionContext } from "../ledger/command.ts";
import type { LedgerView } from "../ledger/ledger.ts";
import type { ClusterId } from "../reservation/ids.ts";
import type { Candidate } from "../scheduling/candidate-table.ts";
import { mayBeNominated, nominatedRequests } from "./nominated.ts";
import type { Queued } from "./order.ts";
import { barredBy } from "./passed-over.ts";
import { suitability } from "./plans.ts";
import { tenantOf } from "./tenants.ts";
import { couldServe } from "./timeline.ts";
import { hasWaitedInVain } from "./victims.ts";
import type { Waiting } from "./waiting.ts";

/** The provider for the first request, if no start could be computed for it long enough. */
export function nominationDue(
  ledger: LedgerView,
  { entry, tenant }: Queued,
  context: DecisionContext,
): ClusterId | undefined {
  const { now, policy } = context;
  if (ledger.head?.id !== entry.id || now - ledger.head.since < policy.queue.holdAfterMs) return undefined;
  const others = nominatedRequests(ledger, policy);
  if (!mayBeNominated(ledger, { entry, tenant }, others)) return undefined;
  const taken = new Set(others.map((other) => other.provider));
  const { resources } = entry.request;
  const isSuitable = suitability(ledger, entry, context);
  const possible = ledger.candidateTable.candidates
    .filter(
      (each) =>
        !taken.has(each.clusterId) && isSuitable(each) && couldServe(ledger, each.clusterId, resources),
    )
    .map((candidate) => ({ provider: candidate.clusterId, lack: lackOf(candidate, resources) }));
  const [best] = possible.sort((a, b) => a.lack - b.lack || (a.provider < b.provider ? -1 : 1));
  return best?.provider;
}

/** A nominated request that could not start: its provider is cordoned, stale, or has refused; or it is passed over itself. */
export function lapsedNomination(ledger: LedgerView, context: DecisionContext): Waiting | undefined {
  for (const line of ledger.waiting.lines()) {
    for (const entry of line.entries) {
      const provider = entry.nominated?.provider;
      if (provider === undefined) continue;
      const candidate = ledger.candidateTable.candidates.find(({ clusterId }) => clusterId === provider);
      const isSuitable = candidate !== undefined && suitability(ledger, entry, context)(candidate);
      if (!isSuitable || isHopeless(ledger, entry, context)) return entry;
    }
  }
  return undefined;
}

/** With victims, what their pods still use comes back: it has its own time. Nothing is kept for a requester that may be gone. */
function isHopeless(ledger: LedgerView, entry: Waiting, context: DecisionContext): boolean {
  const { requester, namespace, nominated, request } = entry;
  const { provider = "", victims } = nominated ?? {};
  if (victims !== undefined) return hasWaitedInVain(ledger, entry, context.now);
  const tenant = tenantOf(context.policy, requester, namespace);
  const isBarred = barredBy(ledger, { entry, tenant }, context) !== undefined;
  return isBarred || !couldServe(ledger, provider, request.resources);
}

/** Sum of the shares that are missing of what is asked for. */
function lackOf({ available }: Candidate, request: ResourceVector): number {
  const missing = shortage(request, available);
  let lack = 0;
  for (const name of resourceNames(missing)) lack += amountOf(missing, name) / amountOf(request, name);
  return lack;
}
