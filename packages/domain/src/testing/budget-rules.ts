import type { Command, Reply } from "../ledger/command.ts";
import type { LedgerEvent } from "../ledger/event.ts";
import type { Policy } from "../scheduling/policy.ts";
import { chargeOn, dayOf } from "./budget-model.ts";
import { type Match, type RuleContext, tenantOf } from "./fitting-rules.ts";
import type { LedgerModel } from "./ledger-model.ts";

type Of<K extends LedgerEvent["kind"]> = Extract<LedgerEvent, { readonly kind: K }>;

const KEPT_DAYS = 40;
const DAY_MS = 86_400_000;

/** Of a request: the price for an hour at this provider; undefined: it has none. */
function priceAt(model: LedgerModel, { provider, request }: Match): number | undefined {
  const prices = model.newest.get(provider)?.advertisement.cost?.onDemand;
  const { cpuMillis, memoryBytes, gpus } = request.resources;
  let sum = 0;
  for (const [amount, price] of [
    [cpuMillis / 1000, prices?.cpuHour],
    [memoryBytes / 1e9, prices?.memoryGbHour],
    [gpus, prices?.gpuHour],
  ] as const) {
    if (amount > 0 && price === undefined) return undefined;
    sum += amount * (price ?? 0);
  }
  return sum;
}

interface Spent {
  readonly tenant: string;
  readonly perHour: number;
  readonly from: number;
  readonly to: number | undefined;
}

/** The day on which the budget would be exceeded; undefined: none. */
function exceededDay(
  model: LedgerModel,
  { tenant, ...spent }: Spent,
  { at, policy }: { readonly at: number; readonly policy: Policy },
): number | undefined {
  const perDay = policy.tenants[tenant]?.budget?.perDay;
  if (perDay === undefined) return undefined;
  return daysFrom(spent.from, spent.to ?? spent.from + 1).find((day) => {
    const own = chargeOn(day, spent, dayOf(at));
    return own + model.budgets.committed(tenant, day, dayOf(at)) > perDay;
  });
}

/** Every day of this time. */
function daysFrom(from: number, to: number): number[] {
  const days: number[] = [];
  for (let day = dayOf(from); day * DAY_MS < to; day++) days.push(day);
  return days;
}

/** Whether this request's tenant can pay for it there. */
export function isAffordable(
  model: LedgerModel,
  match: Match & { readonly tenant: string },
  policy: Policy,
): boolean {
  const { tenant, request, at } = match;
  if (policy.tenants[tenant]?.budget === undefined) return true;
  const perHour = priceAt(model, match);
  if (perHour === undefined) return false;
  const lasts = request.durationMs ?? policy.defaultTtlMs ?? policy.maxTtlMs;
  const to = lasts === undefined ? undefined : at + lasts;
  return exceededDay(model, { tenant, perHour, from: at, to }, { at, policy }) === undefined;
}

/** Whether a request that waits can be paid for at this provider now. */
export function isPayable(
  model: LedgerModel,
  { id, provider, at }: { readonly id: string; readonly provider: string; readonly at: number },
  policy: Policy,
): boolean {
  const entry = model.queue.waiting.get(id);
  if (entry === undefined) return false;
  const { requester, request } = entry;
  return isAffordable(model, { provider, requester, request, at, tenant: tenantOf(entry, policy) }, policy);
}

export function wrongCost(
  model: LedgerModel,
  { at, reservation }: Of<"granted">,
  { policy }: RuleContext,
): string | undefined {
  const { id, requester, tenant = requester, cost, expiresAt: to } = reservation;
  if (policy.tenants[tenant]?.budget === undefined) return undefined;
  if (cost === undefined) return `${id} has no price, and ${tenant} has a budget`;
  const day = exceededDay(model, { tenant, perHour: cost.perHour, from: at, to }, { at, policy });
  return day === undefined ? undefined : `${id} exceeds the budget of ${tenant} on day ${day}`;
}

/** A renewal pays for what it adds. */
export function wrongRenewal(
  model: LedgerModel,
  { at, id, expiresAt }: Of<"renewed">,
  { policy }: RuleContext,
): string | undefined {
  const day = exceededByRenewal(model, { id, expiresAt }, { at, policy });
  return day === undefined ? undefined : `${id}, renewed, exceeds the budget on day ${day}`;
}

function exceededByRenewal(
  model: LedgerModel,
  { id, expiresAt }: { readonly id: string; readonly expiresAt: number },
  { at, policy }: { readonly at: number; readonly policy: Policy },
): number | undefined {
  const before = model.budgets.of(id);
  const perDay = policy.tenants[before?.tenant ?? ""]?.budget?.perDay;
  if (before?.to === undefined || perDay === undefined) return undefined;
  return daysFrom(before.to, expiresAt).find((day) => {
    const added = chargeOn(day, { ...before, to: expiresAt }) - chargeOn(day, before);
    return model.budgets.committed(before.tenant, day, dayOf(at)) + added > perDay;
  });
}

/** Only a day that is over, once, and with all that was charged on it. */
export function wrongClosing(
  { budgets }: LedgerModel,
  { at, closedDay: { day, committed }, forgets }: Of<"day-closed">,
): string | undefined {
  const today = dayOf(at);
  if (day >= today) return `day ${day} is closed before it is over`;
  if (budgets.closedDays.has(day)) return `day ${day} is closed twice`;
  for (const tenant of budgets.tenants) {
    const [counted, told] = [
      budgets.committed(tenant, day, today),
      committed.find(([name]) => name === tenant)?.[1] ?? 0,
    ];
    if (BigInt(told) !== counted) return `${tenant} paid ${counted} on day ${day}, not ${told}`;
  }
  const isEarly = forgets.some((each) => each >= today - KEPT_DAYS);
  return isEarly ? `a day of the last ${KEPT_DAYS} is forgotten` : undefined;
}

/** What was charged must be written down before its reservation goes. */
export function wrongLoss({ budgets }: LedgerModel, { at, id }: Of<"forgotten">): string | undefined {
  const paid = budgets.of(id);
  if (paid === undefined) return undefined;
  for (let day = dayOf(at) - KEPT_DAYS; day <= dayOf(paid.to ?? at); day++) {
    if (chargeOn(day, paid) > 0n && !budgets.closedDays.has(day))
      return `${id} is forgotten, and day ${day} is not written down`;
  }
  return undefined;
}

/** Who is refused for a budget must not have been able to pay. */
export function wrongBudgetReply(
  model: LedgerModel,
  { command, reply, at }: { readonly command: Command; readonly reply: Reply; readonly at: number },
  { policy, canBeServed }: { readonly policy: Policy; readonly canBeServed: boolean },
): string | undefined {
  if (reply.kind !== "rejected" || !reply.message.includes("has a budget of")) return undefined;
  if (command.kind === "reserve") return canBeServed ? "a request that can be paid is rejected" : undefined;
  if (command.kind !== "renew") return `${command.kind} is rejected for a budget`;
  const { id, durationMs } = command;
  const day = exceededByRenewal(model, { id, expiresAt: at + durationMs }, { at, policy });
  return day === undefined ? "a renewal that can be paid is rejected" : undefined;
}
