import type { DecisionContext } from "../ledger/command.ts";
import type { LedgerView } from "../ledger/ledger.ts";
import type { Instant } from "../reservation/ids.ts";
import { DEFAULT_TENANT, type Policy, type Tenant } from "../scheduling/policy.ts";
import { utcDay } from "./charges.ts";
import { committedOn } from "./closed-days.ts";
import { shareOf } from "./order.ts";
import { NOTHING_HELD, type TenantAccount, tenantOf, tenantRules } from "./tenants.ts";

/** What a tenant holds, what it may hold, and what waits for it. Derived whenever somebody asks. */
export interface TenantStatus {
  /** The name in the policy, or the ID of a cluster that no tenant claims. */
  readonly name: string;
  readonly isInPolicy: boolean;
  readonly rules: Tenant;
  readonly share: number;
  readonly account: TenantAccount;
  /** Charged for today (UTC) so far and to the known ends, in micro-units of the policy's currency. */
  readonly committedToday: number;
  /** How many of its requests wait. */
  readonly waiting: number;
  /** Since when the first of them has waited. */
  readonly waitingSince?: Instant;
}

/** The tenants of the policy in its order, then by their IDs the clusters without one that hold something, wait or are charged today. */
export function tenantStatuses(
  ledger: LedgerView,
  { policy, now }: DecisionContext,
): readonly TenantStatus[] {
  const committed = (name: string): number => committedOn(ledger, name, { day: utcDay(now), now });
  const queues = queuesByTenant(ledger, policy);
  const declared = Object.keys(policy.tenants).filter((name) => isTenant(name, policy));
  const known = new Set(declared);
  const charged = [...ledger.charges.keys()].filter((name) => committed(name) > 0);
  const others = [...ledger.tenants.keys(), ...queues.keys(), ...charged].filter((name) => !known.has(name));
  return [...declared, ...[...new Set(others)].sort()].map((name) => ({
    name,
    isInPolicy: known.has(name),
    rules: tenantRules(policy, name),
    share: shareOf(ledger, name, policy),
    account: ledger.tenants.get(name) ?? NOTHING_HELD,
    committedToday: committed(name),
    ...(queues.get(name) ?? { waiting: 0 }),
  }));
}

/** The entry `default` without members is no tenant: it has the rules for those that no tenant claims. */
function isTenant(name: string, { tenants }: Policy): boolean {
  return name !== DEFAULT_TENANT || (tenants[name]?.members.length ?? 0) > 0;
}

type TenantQueue = Pick<TenantStatus, "waiting" | "waitingSince">;

function queuesByTenant(ledger: LedgerView, policy: Policy): ReadonlyMap<string, TenantQueue> {
  const queues = new Map<string, TenantQueue>();
  for (const { requester, namespace, entries } of ledger.waiting.lines()) {
    // The first of a line is the one that waits longest.
    const [first] = entries;
    if (first === undefined) continue;
    const tenant = tenantOf(policy, requester, namespace);
    const known = queues.get(tenant);
    queues.set(tenant, {
      waiting: (known?.waiting ?? 0) + entries.length,
      waitingSince: Math.min(known?.waitingSince ?? first.since, first.since),
    });
  }
  return queues;
}
