import { formatDuration } from "@resource-broker/base";
import { DEFAULT_POLICY, DEFAULT_TENANT, type PreemptionPolicy } from "@resource-broker/domain";
import { formatDecimal } from "../mapping/cost.ts";
import { present } from "../mapping/present.ts";
import { toMilliseconds } from "../mapping/reservation-request.ts";
import type { Problem } from "../schema/problem.ts";
import type { PolicyDTO, PreemptionDTO } from "./policy-schema.ts";

export function toPreemption({ grace, minRun, maxUnderNotice, ...dto }: PreemptionDTO): PreemptionPolicy {
  return {
    ...DEFAULT_POLICY.preemption,
    ...present({
      ...dto,
      graceMs: grace === undefined ? undefined : toMilliseconds(grace),
      minRunMs: minRun === undefined ? undefined : toMilliseconds(minRun),
      maxUnderNotice: maxUnderNotice === undefined ? undefined : Number.parseFloat(maxUnderNotice) / 100,
    }),
  };
}

export function fromPreemption(policy: PreemptionPolicy): PreemptionDTO {
  const { victims, minPriorityGap, graceMs, minRunMs, maxUnderNotice } = policy;
  return {
    victims,
    minPriorityGap,
    grace: formatDuration(graceMs),
    minRun: formatDuration(minRunMs),
    maxUnderNotice: `${formatDecimal(maxUnderNotice * 100)}%`,
  };
}

/** Without a limit every cluster could claim a priority that ends the reservations of all others. */
export function preemptionProblems({ preemption, tenants }: PolicyDTO): Problem[] {
  if ((preemption?.victims ?? "none") === "none") return [];
  if (tenants?.[DEFAULT_TENANT]?.maxPriority !== undefined) return [];
  const message = `needs tenants.${DEFAULT_TENANT}.maxPriority: without it every cluster could preempt all others`;
  return [{ path: "preemption.victims", message }];
}
