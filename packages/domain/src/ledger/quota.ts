import {
  add,
  amountOf,
  describeAmount,
  lookup,
  type ResourceVector,
  resourceNames,
  slotOf,
} from "@resource-broker/base";
import { NOTHING_HELD, type TenantAccount, tenantRules } from "../queue/tenants.ts";
import type { ClusterId } from "../reservation/ids.ts";
import type { ReservationRequest } from "../reservation/reservation.ts";
import type { Policy, ResourceLimits } from "../scheduling/policy.ts";
import { type Outcome, rejected } from "./command.ts";
import type { LedgerView } from "./ledger.ts";

interface QuotaRequest {
  readonly requester: ClusterId;
  /** Absent: the requester itself. */
  readonly tenant?: string;
  readonly request: Pick<ReservationRequest, "resources">;
  /** What it is about to hold besides. */
  readonly besides?: TenantAccount;
}

/** The rejection when the request exceeds the quota of its cluster or its tenant. */
export function overQuota(ledger: LedgerView, command: QuotaRequest, policy: Policy): Outcome | undefined {
  return overClusterQuota(ledger, command, policy) ?? overTenantQuota(ledger, command, policy);
}

function overTenantQuota(ledger: LedgerView, command: QuotaRequest, policy: Policy): Outcome | undefined {
  const { tenant = command.requester, besides } = command;
  const { quota } = tenantRules(policy, tenant);
  const { granted, reservations } = together(ledger.tenants.get(tenant) ?? NOTHING_HELD, besides);
  if (quota.reservations !== undefined && reservations >= quota.reservations) {
    return rejected(
      "quota-exceeded",
      `tenant ${tenant} may hold ${quota.reservations} reservations at once and holds ${reservations}; ` +
        `release some, or have an admin raise tenants.${tenant}.quota.reservations in the policy`,
    );
  }
  return overAmount({ ...command, requester: tenant }, granted, (name) => limitOf(quota, name));
}

function overClusterQuota(ledger: LedgerView, command: QuotaRequest, policy: Policy): Outcome | undefined {
  const { requester, besides } = command;
  const own = lookup(policy.quotas, requester) ?? {};
  const { granted, reservations } = together(requestedBy(ledger, requester), besides);
  const most = own.reservations ?? policy.defaultQuota.reservations;
  if (most !== undefined && reservations >= most) {
    return rejected(
      "quota-exceeded",
      `${requester} may hold ${most} reservations at once and holds ${reservations}; ` +
        `release some, or have an admin raise quotas.${requester}.reservations in the policy`,
    );
  }
  return overAmount(command, granted, (name) => limitOf(own, name) ?? limitOf(policy.defaultQuota, name));
}

function requestedBy({ accounts }: LedgerView, requester: ClusterId): TenantAccount {
  const account = accounts.get(requester);
  if (account === undefined) return NOTHING_HELD;
  return { granted: account.grantedAsRequester, reservations: account.asRequester.size };
}

function together(held: TenantAccount, besides: TenantAccount | undefined): TenantAccount {
  if (besides === undefined) return held;
  return {
    granted: add(held.granted, besides.granted),
    reservations: held.reservations + besides.reservations,
  };
}

function overAmount(
  { requester, request }: QuotaRequest,
  grantedAsRequester: ResourceVector,
  limitFor: (name: string) => number | undefined,
): Outcome | undefined {
  for (const name of resourceNames(request.resources)) {
    const limit = limitFor(name);
    const [holds, asks] = [amountOf(grantedAsRequester, name), amountOf(request.resources, name)];
    if (limit === undefined || holds + asks <= limit) continue;
    const [most, held, asked] = [limit, holds, asks].map((amount) => describeAmount(name, amount));
    return rejected(
      "quota-exceeded",
      `${requester} may hold ${most}; it holds ${held} and asks for ${asked}`,
    );
  }
  return undefined;
}

function limitOf(quota: ResourceLimits, name: string): number | undefined {
  const slot = slotOf(name);
  return slot === undefined ? lookup(quota.extended, name) : quota[slot];
}
