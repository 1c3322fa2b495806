import { add, amountOf, type ResourceVector, resourceNames } from "@resource-broker/base";
import type { LedgerView } from "../ledger/ledger.ts";
import type { ClusterId } from "../reservation/ids.ts";
import type { Policy } from "../scheduling/policy.ts";
import { tenantOf } from "./tenants.ts";
import type { Waiting } from "./waiting.ts";

/** Of what the fleet lends, several nominations together keep no more than this part. */
const LARGEST_PART = 0.25;

/** A provider that a waiting request was nominated to, and what is kept there. */
export interface Nominated {
  readonly provider: ClusterId;
  readonly tenant: string;
  readonly resources: ResourceVector;
}

export function nominatedRequests(ledger: LedgerView, policy: Policy): Nominated[] {
  const found: Nominated[] = [];
  for (const { kept } of ledger.accounts.values()) {
    const entry =
      kept === undefined || kept.from !== undefined ? undefined : ledger.waiting.byId.get(kept.id);
    if (kept === undefined || entry === undefined) continue;
    const { provider, resources } = kept;
    found.push({ provider, resources, tenant: tenantOf(policy, entry.requester, entry.namespace) });
  }
  return found;
}

/** One nomination a tenant. */
export function isNominatedTenant(tenant: string, nominated: readonly Nominated[]): boolean {
  return nominated.some((other) => other.tenant === tenant);
}

/** Not too much of the fleet. One alone may be larger: it would wait for ever. */
export function isWithinPart(
  { candidateTable: { lendable } }: LedgerView,
  { request }: Waiting,
  others: readonly Nominated[],
): boolean {
  if (others.length === 0) return true;
  const total = others.reduce((sum, { resources }) => add(sum, resources), request.resources);
  return resourceNames(total).every(
    (name) => amountOf(total, name) <= LARGEST_PART * amountOf(lendable, name),
  );
}
