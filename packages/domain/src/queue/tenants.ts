import {
  add,
  amountOf,
  lookup,
  NO_RESOURCES,
  type ResourceVector,
  resourceNames,
  subtract,
} from "@resource-broker/base";
import type { ClusterId } from "../reservation/ids.ts";
import { DEFAULT_TENANT, type Policy, type Tenant } from "../scheduling/policy.ts";

/** What all clusters of a tenant hold together. */
export interface TenantAccount {
  readonly granted: ResourceVector;
  readonly reservations: number;
}

export const NOTHING_HELD: TenantAccount = /* @__PURE__ */ Object.freeze({
  granted: NO_RESOURCES,
  reservations: 0,
});

/**
 * The tenant that a request counts for: the one whose members it matches, else its own cluster. If a tenant of the policy is
 * called like the cluster, it is another one.
 */
export function tenantOf(policy: Policy, requester: ClusterId, namespace: string | undefined): string {
  for (const [name, { members }] of Object.entries(policy.tenants)) {
    if (members.some((member) => member.cluster === requester && matches(member.namespaces, namespace)))
      return name;
  }
  return lookup(policy.tenants, requester) === undefined ? requester : `cluster/${requester}`;
}

/** Absent patterns match every request; a request without a namespace matches only those. */
function matches(patterns: readonly string[] | undefined, namespace: string | undefined): boolean {
  if (patterns === undefined) return true;
  return namespace !== undefined && patterns.some((pattern) => matchesPattern(pattern, namespace));
}

/** A pattern is a name, or the beginning of names followed by `*`. */
function matchesPattern(pattern: string, name: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

const UNKNOWN_TENANT: Tenant = /* @__PURE__ */ Object.freeze({ members: [], weight: 1, quota: {} });

export function tenantRules(policy: Policy, tenant: string): Tenant {
  return lookup(policy.tenants, tenant) ?? lookup(policy.tenants, DEFAULT_TENANT) ?? UNKNOWN_TENANT;
}

/** The account after a reservation of this size came or went. */
export function withGranted(account: TenantAccount, granted: ResourceVector, count: 1 | -1): TenantAccount {
  const change = count === 1 ? add : subtract;
  return { granted: change(account.granted, granted), reservations: account.reservations + count };
}

/** In thousandths: differences below are of no importance, and all copies of a ledger round alike. */
const SHARE_STEPS = 1000;

/** The largest share that the tenant holds of any resource the fleet lends, divided by its weight (dominant resource fairness). */
export function dominantShare(
  { granted }: Pick<TenantAccount, "granted">,
  lendable: ResourceVector,
  weight: number,
): number {
  let largest = 0;
  for (const name of resourceNames(granted)) {
    const total = amountOf(lendable, name);
    if (total > 0) largest = Math.max(largest, amountOf(granted, name) / total);
  }
  return Math.round((largest / weight) * SHARE_STEPS) / SHARE_STEPS;
}
