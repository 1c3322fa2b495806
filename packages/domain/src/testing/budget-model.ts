import type { LedgerEvent } from "../ledger/event.ts";
import type { LedgerView } from "../ledger/ledger.ts";
import { committedOn } from "../queue/closed-days.ts";
import type { Reservation } from "../reservation/reservation.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000n;

/** What a tenant pays for one reservation. */
interface Paid {
  readonly tenant: string;
  readonly perHour: number;
  readonly from: number;
  /** Undefined: it goes on. */
  readonly to: number | undefined;
}

/** The budgets' part of the model: everything that was ever charged, and which days are written down. */
export class BudgetModel {
  readonly paid: Paid[] = [];
  /** The entry of each reservation that is not forgotten. */
  readonly entries = new Map<string, number>();
  closedDays: ReadonlySet<number> = new Set();

  draft(): BudgetModel {
    const copy = new BudgetModel();
    copy.paid.push(...this.paid);
    for (const [id, index] of this.entries) copy.entries.set(id, index);
    copy.closedDays = this.closedDays;
    return copy;
  }

  apply(event: LedgerEvent): void {
    switch (event.kind) {
      case "granted":
      case "adopted":
        return this.#begin(event.reservation);
      case "renewed":
        return this.#change(event.id, () => event.expiresAt);
      case "ended":
        return this.#change(event.id, ({ to = event.at }) => Math.min(to, event.at));
      case "forgotten":
        return void this.entries.delete(event.id);
      case "day-closed": {
        const kept = [...this.closedDays].filter((day) => !event.forgets.includes(day));
        this.closedDays = new Set([...kept, event.closedDay.day]);
        return;
      }
      default:
        return;
    }
  }

  #begin({ id, requester, tenant = requester, cost, reservedAt: from, expiresAt: to }: Reservation): void {
    if (cost !== undefined)
      this.entries.set(id, this.paid.push({ tenant, perHour: cost.perHour, from, to }) - 1);
  }

  #change(id: string, end: (paid: Paid) => number): void {
    const [index, paid] = [this.entries.get(id), this.of(id)];
    if (index !== undefined && paid !== undefined) this.paid[index] = { ...paid, to: end(paid) };
  }

  of(id: string): Paid | undefined {
    return this.paid[this.entries.get(id) ?? -1];
  }

  get tenants(): Set<string> {
    return new Set(this.paid.map(({ tenant }) => tenant));
  }

  /** All that this tenant pays for a day, as far as it is known `today`. */
  committed(tenant: string, day: number, today: number): bigint {
    let sum = 0n;
    for (const paid of this.paid) if (paid.tenant === tenant) sum += chargeOn(day, paid, today);
    return sum;
  }
}

/** In millionths, rounded up. Without an end: to the end of `today`. */
export function chargeOn(
  day: number,
  { perHour, from, to }: Omit<Paid, "tenant">,
  today = Number.NEGATIVE_INFINITY,
): bigint {
  const end = to ?? (Math.max(today, dayOf(from)) + 1) * DAY_MS;
  const duration = Math.min(end, (day + 1) * DAY_MS) - Math.max(from, day * DAY_MS);
  if (duration <= 0) return 0n;
  const [exact, divisor] = [BigInt(Math.round(perHour * 1e12)) * BigInt(duration), HOUR_MS * 1_000_000n];
  return (exact + divisor - 1n) / divisor;
}

export function dayOf(at: number): number {
  return Math.floor(at / DAY_MS);
}

/** Where the ledger has charged something else; only days that are near are looked at. */
export function wrongCharges(
  ledger: LedgerView,
  model: BudgetModel,
  { time }: { readonly time: number },
): string | undefined {
  const today = dayOf(time);
  const days = [today - 3, today - 2, today - 1, today, today + 1, today + 2, today + 4];
  for (const tenant of new Set([...model.tenants, ...ledger.charges.keys()])) {
    for (const day of days) {
      const [charged, counted] = [
        committedOn(ledger, tenant, { day, now: time }),
        model.committed(tenant, day, today),
      ];
      if (BigInt(charged) !== counted)
        return `${tenant} is charged ${charged} on day ${day}, a recount gives ${counted}`;
    }
  }
  return undefined;
}
