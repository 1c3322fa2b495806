import type { Instant } from "../reservation/ids.ts";
import { isLive } from "../reservation/lifecycle.ts";
import { isCountable, isZero, sum } from "../resources/resource-vector.ts";
import { type Import, type Outcome, rejected } from "./command.ts";
import type { LedgerView } from "./ledger.ts";

/**
 * Capacity is not checked: these holds exist in the providers' clusters either way. Only a ledger that has never known a
 * reservation takes them: later, the objects of an older broker say nothing that this ledger does not know better.
 */
export function decideImport(ledger: LedgerView, { reservations }: Import, now: Instant): Outcome {
  if (ledger.reservations.size > 0) {
    return rejected(
      "ledger-conflict",
      "only a ledger without reservations takes over those of an older broker",
    );
  }
  const ids = new Set(reservations.map(({ id }) => id));
  const areLive = reservations.every(({ phase }) => isLive(phase));
  const amounts = reservations.map(({ granted }) => granted);
  const isCounted = !amounts.some(isZero) && isCountable(sum(amounts));
  if (ids.size < reservations.length || !areLive || !isCounted) {
    return rejected("invalid", "what is taken over must be live, named once, and add up exactly");
  }
  const events = reservations.map((reservation) => ({ kind: "adopted", at: now, reservation }) as const);
  return { events, reply: { kind: "imported", count: events.length } };
}
