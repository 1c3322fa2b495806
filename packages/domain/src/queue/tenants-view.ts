import type { ResourceVector } from "@resource-broker/base";
import type { LedgerView } from "../ledger/ledger.ts";
import type { Instant } from "../reservation/ids.ts";
import type { Policy, Quota } from "../scheduling/policy.ts";
import { utcDay } from "./charges.ts";
import { committedOn } from "./closed-days.ts";
import { shareOf } from "./order.ts";
import { NOTHING_HELD, tenantRules } from "./tenants.ts";

/** A tenant as its operator sees it. */
export interface TenantView {
  readonly tenant: string;
  readonly weight: number;
  /** The largest share of any resource that it holds of what the fleet lends, divided by its weight. */
  readonly share: number;
  readonly quota: Quota;
  readonly granted: ResourceVector;
  readonly reservations: number;
  /** Charged for today (UTC) so far and to the known ends, in micro-units of the policy's currency. */
  readonly committedToday: number;
  /** What it may be charged for a day, in the same unit; absent: it has no budget. */
  readonly budgetPerDay?: number;
}

/** The tenants that the policy names, and the clusters without one that hold something or are charged today; by name. */
export function tenantsView(ledger: LedgerView, policy: Policy, now: Instant): TenantView[] {
  const names = new Set([...Object.keys(policy.tenants), ...ledger.tenants.keys(), ...ledger.charges.keys()]);
  const views = [...names].sort().map((tenant): TenantView => {
    const { weight, quota, budget } = tenantRules(policy, tenant);
    return {
      tenant,
      weight,
      share: shareOf(ledger, tenant, policy),
      quota,
      ...(ledger.tenants.get(tenant) ?? NOTHING_HELD),
      committedToday: committedOn(ledger, tenant, { day: utcDay(now), now }),
      ...(budget === undefined ? {} : { budgetPerDay: budget.perDay }),
    };
  });
  return views.filter(
    ({ tenant, reservations, committedToday }) =>
      reservations > 0 || committedToday > 0 || Object.hasOwn(policy.tenants, tenant),
  );
}
