import { setImmediate as nextTurn } from "node:timers/promises";
import type { LedgerView, Reservation, ReservationId } from "@resource-broker/domain";
import type { Committed } from "../../engine/engine.ts";
import type { Store } from "../../store/store.ts";

const READ_AT_ONCE = 50;

/** Mean price of the clusters that fitted, by reservation. Taken from new decisions, and once from the store for older ones. */
export interface MeanPrices {
  readonly of: (id: ReservationId) => number | undefined;
  readonly add: (commit: Committed) => void;
  /** Reads decisions from before this process. All callers share one promise. */
  readonly complete: () => Promise<void>;
}

export function createMeanPrices(
  store: Pick<Store, "findDecision">,
  ledger: () => Pick<LedgerView, "reservations">,
): MeanPrices {
  const prices = new Map<ReservationId, number>();
  let completing: Promise<void> | undefined;

  const readOne = async ({ id, decisionId }: Reservation): Promise<void> => {
    const decision = decisionId === undefined ? undefined : await store.findDecision(decisionId);
    const price = decision?.market.meanPrice;
    if (price !== undefined) prices.set(id, price);
  };

  const readOlder = async (): Promise<void> => {
    const older = [...ledger().reservations.values()].filter(
      ({ id, cost }) => cost !== undefined && !prices.has(id),
    );
    for (let from = 0; from < older.length; from += READ_AT_ONCE) {
      await Promise.all(older.slice(from, from + READ_AT_ONCE).map(readOne));
      await nextTurn();
    }
  };

  return {
    of: (id) => prices.get(id),
    add: ({ events }) => {
      for (const event of events) {
        if (event.kind === "granted") {
          const { meanPrice } = event.decision.market;
          if (meanPrice !== undefined) prices.set(event.reservation.id, meanPrice);
        } else if (event.kind === "forgotten") prices.delete(event.id);
      }
    },
    complete: () =>
      (completing ??= readOlder().catch((error: unknown) => {
        // The next call tries again.
        completing = undefined;
        throw error;
      })),
  };
}
