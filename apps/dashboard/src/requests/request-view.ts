import { lookup, resourceTitle } from "@resource-broker/base";
import type { DemandDTO, TenantDTO, WaitingRequestDTO } from "@resource-broker/contract";
import { amountText, amountWithUnit, inParts, NAMES, percent, quantityValue } from "../format/amounts.ts";
import { moneyText } from "../format/money.ts";
import type { Tone } from "../parts/chips.tsx";
import type { IconName } from "../parts/icons.tsx";

type Reason = NonNullable<WaitingRequestDTO["queue"]>["reason"];

interface ReasonView {
  readonly title: string;
  readonly text: string;
  readonly tone: Tone;
  readonly icon?: IconName;
}

/** Why a request waits: in a word or two, and in a sentence. */
export const WAITING_REASONS: Readonly<Record<Reason, ReasonView>> = {
  Capacity: { title: "No capacity", text: "No cluster that suits it has enough free", tone: "busy" },
  Nomination: {
    title: "Kept for others",
    text: "What is free is kept for a request that comes first",
    tone: "busy",
    icon: "pause",
  },
  Quota: {
    title: "Over quota",
    text: "Its cluster or tenant holds all that it may hold",
    tone: "warn",
  },
  Budget: {
    title: "Over budget",
    text: "It would exceed the budget that its tenant has for a day",
    tone: "warn",
  },
  RequesterSilent: {
    title: "Agent silent",
    text: "The agent of its cluster has not been heard lately",
    tone: "warn",
    icon: "clock",
  },
  Unsatisfiable: {
    title: "Too large",
    text: "No cluster could serve it, even without any reservation",
    tone: "bad",
  },
  Starting: { title: "Next", text: "It is looked at next, or the broker has just started", tone: "good" },
};

/** The cluster, and the tenant or the namespace where they say more. */
export function originText({
  requesterID,
  tenant,
  namespace,
}: Pick<WaitingRequestDTO, "requesterID" | "tenant" | "namespace">): string {
  return [tenant === requesterID ? "" : tenant, namespace ?? ""].filter((part) => part !== "").join(" · ");
}

export interface UnmetView {
  readonly requests: number;
  /** What they ask for together, in words. */
  readonly text: string;
}

/** What waits and what is refused in the whole fleet, of the tenants that are listed. */
export function unmetTotals({ tenants }: Pick<DemandDTO, "tenants">) {
  return {
    waiting: unmetView(tenants.map(({ waiting }) => waiting)),
    refused: unmetView(tenants.map(({ refused }) => refused)),
  };
}

export function unmetView(all: readonly DemandDTO["tenants"][number]["waiting"][]): UnmetView {
  const amounts = NAMES.map((name) => {
    const value = all.reduce((sum, { resources }) => sum + (resources[name] ?? 0), 0);
    return value > 0 ? amountWithUnit(name, value) : "";
  });
  return { requests: all.reduce((sum, each) => sum + each.requests, 0), text: inParts(amounts) };
}

export interface LimitView {
  readonly title: string;
  /** "6 of 8": what is used of what is allowed. */
  readonly text: string;
  /** All of it in words, for those who do not see the bar. */
  readonly description: string;
  /** Of the limit; from 0 to 1. */
  readonly share: number;
  readonly isOver: boolean;
}

interface Limit {
  readonly title: string;
  readonly used: number;
  readonly most: number;
  readonly format: (value: number) => string;
}

function limitView({ title, used, most, format }: Limit): LimitView {
  const share = most > 0 ? used / most : used > 0 ? Number.POSITIVE_INFINITY : 0;
  const text = `${format(used)} of ${format(most)}`;
  const isOver = share > 1;
  const rest = isOver ? "more than allowed" : `${percent(share)} used`;
  return { title, text, description: `${title}: ${text}, ${rest}`, share: Math.min(1, share), isOver };
}

/** One for each resource that is limited, and for the number of reservations. */
export function quotaViews({ quota = {}, holds, reservations }: TenantDTO): readonly LimitView[] {
  const { extended = {}, reservations: mostReservations, ...fields } = quota;
  const { extended: heldExtended = {}, ...held } = holds;
  const amounts = [...Object.entries<string>(fields), ...Object.entries(extended)].map(([name, most]) =>
    limitView({
      title: resourceTitle(name),
      used: quantityValue(name, lookup<string>(held, name) ?? lookup(heldExtended, name) ?? "0"),
      most: quantityValue(name, most),
      format: (value) => amountText(name, value),
    }),
  );
  if (mostReservations === undefined) return amounts;
  const count = { title: "Reservations", used: reservations, most: mostReservations, format: String };
  return [...amounts, limitView(count)];
}

/** What is committed today of the budget of a day; null: there is no limit. */
export function budgetView({ committedToday, budgetPerDay, currency }: TenantDTO): LimitView | null {
  if (budgetPerDay === undefined) return null;
  return limitView({
    title: "Today",
    used: Number(committedToday),
    most: Number(budgetPerDay),
    format: (value) => moneyText(value, currency),
  });
}

/** "12.5 %", and the weight that it was divided by. */
export function shareText({ share, weight }: Pick<TenantDTO, "share" | "weight">): string {
  return weight === 1 ? percent(share) : `${percent(share)} (weight ${weight})`;
}
