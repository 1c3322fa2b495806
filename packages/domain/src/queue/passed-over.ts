import type { DecisionContext } from "../ledger/command.ts";
import type { LedgerView } from "../ledger/ledger.ts";
import { isEvicted } from "../ledger/member.ts";
import { overQuota } from "../ledger/quota.ts";
import type { ClusterId, ReservationId } from "../reservation/ids.ts";
import { fitsSomewhere } from "../scheduling/filter-candidates.ts";
import { schedulingFor } from "./over-budget.ts";
import type { Queued } from "./order.ts";

/** In stalenesses: without a word for longer, a requester counts as silent. */
const SILENT_AFTER = 2;

/** Why a waiting request is passed over. */
export type PassedOver = "Capacity" | "Quota" | "Budget" | "RequesterSilent" | "Unsatisfiable";

export interface QueueContext extends DecisionContext {
  /** Whether another waiting request comes first. Absent: all others do. */
  readonly isBehind?: (id: ReservationId) => boolean;
}

/** Why this request cannot be granted now; undefined when it fits somewhere. */
export function passedOver(
  ledger: LedgerView,
  { entry, tenant }: Pick<Queued, "entry" | "tenant">,
  { isBehind = () => true, ...context }: QueueContext,
): PassedOver | undefined {
  const { id, requester, request } = entry;
  const barred = barredBy(ledger, { entry, tenant }, context);
  if (barred !== undefined) return barred;
  const others = (other: ReservationId): boolean => other !== id && isBehind(other);
  const { candidateTable: table } = ledger;
  const scheduling = schedulingFor(ledger, { tenant, requester, request }, { ...context, isBehind: others });
  if (fitsSomewhere(table, scheduling)) return undefined;
  if (scheduling.budget === undefined) return "Capacity";
  return fitsSomewhere(table, { ...scheduling, budget: undefined }) ? "Budget" : "Capacity";
}

/** Why this request could not be granted even if there were room. */
export function barredBy(
  ledger: LedgerView,
  { entry: { requester, request }, tenant }: Pick<Queued, "entry" | "tenant">,
  context: DecisionContext,
): PassedOver | undefined {
  if (isEvicted(ledger, requester)) return "Unsatisfiable";
  if (isSilent(ledger, requester, context)) return "RequesterSilent";
  const isOver = overQuota(ledger, { requester, tenant, request }, context.policy) !== undefined;
  return isOver ? "Quota" : undefined;
}

/** A cluster that has never advertised has no agent that could be heard: a person asks for it, with an object. */
function isSilent(ledger: LedgerView, requester: ClusterId, { now, policy }: DecisionContext): boolean {
  const account = ledger.accounts.get(requester);
  if (account?.advertisement === undefined) return false;
  return now - account.lastSeenAt > SILENT_AFTER * policy.stalenessMs;
}
