import { formatTime } from "@resource-broker/base";
import type { TenantStatus } from "@resource-broker/domain";
import { fromQuota } from "../policy/policy-mapping.ts";
import type { TenantDTO } from "../wire/tenant.ts";
import { toQuantities } from "./amounts.ts";
import { present } from "./present.ts";

export function fromTenantStatus(status: TenantStatus): TenantDTO {
  const { name, isInPolicy, rules, share, account, waiting, waitingSince } = status;
  const { weight, quota, maxPriority } = rules;
  return present({
    name,
    inPolicy: isInPolicy,
    weight,
    share,
    holds: toQuantities(account.granted),
    reservations: account.reservations,
    quota: Object.keys(quota).length === 0 ? undefined : fromQuota(quota),
    maxPriority,
    waiting,
    waitingSince: waitingSince === undefined ? undefined : formatTime(waitingSince),
  });
}
