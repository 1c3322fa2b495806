import { formatTime } from "@resource-broker/base";
import { MICRO_UNITS, type TenantStatus } from "@resource-broker/domain";
import { fromQuota } from "../policy/policy-mapping.ts";
import type { TenantDTO } from "../wire/tenant.ts";
import { MAX_SHARE } from "../wire/waiting.ts";
import { toQuantities } from "./amounts.ts";
import { formatDecimal } from "./cost.ts";
import { present } from "./present.ts";

export function fromTenantStatus(status: TenantStatus, currency: string): TenantDTO {
  const { name, isInPolicy, rules, share, account, committedToday, waiting, waitingSince } = status;
  const { weight, quota, budget, maxPriority } = rules;
  return present({
    name,
    inPolicy: isInPolicy,
    weight,
    share: Math.min(share, MAX_SHARE),
    holds: toQuantities(account.granted),
    reservations: account.reservations,
    quota: Object.keys(quota).length === 0 ? undefined : fromQuota(quota),
    maxPriority,
    committedToday: formatDecimal(committedToday / MICRO_UNITS),
    budgetPerDay: budget && formatDecimal(budget.perDay / MICRO_UNITS),
    currency,
    waiting,
    waitingSince: waitingSince === undefined ? undefined : formatTime(waitingSince),
  });
}
