import type { Instant } from "../reservation/ids.ts";
import { isLive } from "../reservation/lifecycle.ts";
import { isCountable, isZero, sum } from "../resources/resource-vector.ts";
import { type Import, type Outcome, rejected } from "./command.ts";
import type { LedgerView } from "./ledger.ts";

/**
 * Capacity is not checked: the providers hold these reservations in any case. Only a ledger without reservations imports:
 * later the ledger is more recent than the objects of the older broker.
 */
export function decideImport(ledger: LedgerView, { reservations }: Import, now: Instant): Outcome {
  if (ledger.reservations.size > 0) {
    return rejected(
      "ledger-conflict",
      "only a ledger without reservations can import those of an older broker",
    );
  }
  const ids = new Set(reservations.map(({ id }) => id));
  const areLive = reservations.every(({ phase }) => isLive(phase));
  const amounts = reservations.map(({ granted }) => granted);
  const isCounted = !amounts.some(isZero) && isCountable(sum(amounts));
  if (ids.size < reservations.length || !areLive || !isCounted) {
    return rejected("invalid", "imported reservations must be live and unique, with amounts within range");
  }
  const events = reservations.map((reservation) => ({ kind: "adopted", at: now, reservation }) as const);
  return { events, reply: { kind: "imported", count: events.length } };
}
