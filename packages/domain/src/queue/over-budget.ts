import { type DecisionContext, type Outcome, rejected } from "../ledger/command.ts";
import type { LedgerView } from "../ledger/ledger.ts";
import type { ClusterId, Instant } from "../reservation/ids.ts";
import type { Reservation, ReservationRequest } from "../reservation/reservation.ts";
import type { Decision } from "../scheduling/decision.ts";
import { lifetimeOf, type Policy } from "../scheduling/policy.ts";
import { preScore } from "../scheduling/pre-score.ts";
import type { SchedulingContext } from "../scheduling/scheduling-context.ts";
import { type Budget, chargedDays, describeExcess, firstExcess } from "./budget.ts";
import { cloneCharges, countCharges, NO_CHARGES, startOfDay, utcDay } from "./charges.ts";
import { tenantRules } from "./tenants.ts";

interface TenantRequest {
  readonly tenant: string;
  readonly requester: ClusterId;
  readonly request: ReservationRequest;
}

/** What the scheduler needs to know about a request of this tenant. */
export function schedulingFor<C extends DecisionContext>(
  ledger: LedgerView,
  { tenant, requester, request }: TenantRequest,
  context: C,
): SchedulingContext & C {
  const { policy, now } = context;
  const scheduling = { requester, request, ...context };
  const perDay = tenantRules(policy, tenant).budget?.perDay;
  if (perDay === undefined) return scheduling;
  const lifetimeMs = lifetimeOf(request, policy);
  const days = chargedDays(ledger.charges.get(tenant) ?? NO_CHARGES, {
    from: now,
    // Without an end it is charged to midnight.
    to: lifetimeMs === undefined ? startOfDay(utcDay(now) + 1) : now + lifetimeMs,
    today: utcDay(now),
  });
  const { priceOf } = preScore(scheduling);
  return { ...scheduling, budget: { tenant, perDay, currency: policy.prices.currency, days, priceOf } };
}

/** The rejection when nothing but the budget is in the way. */
export function overBudget(
  { candidates, refusedBy }: Decision,
  budget: Budget | undefined,
): Outcome | undefined {
  if (budget === undefined || refusedBy.budget === undefined) return undefined;
  const [cheapest] = candidates
    .flatMap(({ clusterId, inputs: { price = Number.NaN }, outcome }) => {
      const isOver = outcome.kind === "refused" && outcome.refusal.filter === "budget";
      return isOver ? [{ clusterId, price }] : [];
    })
    .sort((a, b) => a.price - b.price);
  const excess = cheapest && firstExcess(budget, cheapest.price);
  // Of many candidates only the nearest are recorded.
  const why = excess && `${cheapest?.clusterId} ${describeExcess(budget, excess)}`;
  const general = `every provider that fits costs more than the budget of tenant ${budget.tenant} allows`;
  return rejected("quota-exceeded", `${why ?? general}; ${ADVICE}`);
}

const ADVICE =
  "release some, ask again on another day, or have an admin raise the tenant's budget in the policy";

/** The rejection when the time that a renewal adds exceeds the budget of a day. */
export function renewalOverBudget(
  ledger: LedgerView,
  reservation: Reservation,
  { to, now, policy }: { readonly to: Instant; readonly now: Instant; readonly policy: Policy },
): Outcome | undefined {
  const { id, requester, tenant = requester, cost, reservedAt, expiresAt } = reservation;
  const perDay = tenantRules(policy, tenant).budget?.perDay;
  if (perDay === undefined || cost === undefined || expiresAt === undefined) return undefined;
  const others = cloneCharges(ledger.charges.get(tenant) ?? NO_CHARGES);
  countCharges(others, reservation, -1);
  // Its first day may have been paid in part: it is counted anew.
  const from = Math.max(reservedAt, startOfDay(utcDay(expiresAt)));
  const days = chargedDays(others, { from, to, today: utcDay(now) });
  const spending = { tenant, perDay, currency: policy.prices.currency, days };
  const excess = firstExcess(spending, cost.perHour);
  if (excess === undefined) return undefined;
  return rejected("quota-exceeded", `${id}, renewed, ${describeExcess(spending, excess)}; ${ADVICE}`);
}
