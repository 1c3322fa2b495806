import type { CostDTO } from "@resource-broker/contract";
import type { Log, ReportReload } from "@resource-broker/runtime";
import type { CostReading } from "./cost-reading.ts";

/** Prices that are reloaded: an invalid reading is logged once and changes nothing. */
export interface LastGoodPrices {
  readonly update: (reading: CostReading) => void;
  readonly current: () => CostDTO | undefined;
  readonly onChange: (listener: () => void) => () => void;
}

export interface PriceReadingDeps {
  readonly log: Log;
  /** Called with each problem, and with undefined when it is solved. */
  readonly report?: ReportReload | undefined;
}

/** `from`: the file or object, as messages name it. */
export function lastGoodPrices(from: string, { log, report }: PriceReadingDeps): LastGoodPrices {
  const listeners = new Set<() => void>();
  let cost: CostDTO | undefined;
  let lastProblem: string | undefined;

  return {
    update: (reading) => {
      report?.(reading.ok ? undefined : `${from}: ${reading.problem}`);
      if (!reading.ok) {
        if (reading.problem === lastProblem) return;
        lastProblem = reading.problem;
        const stays = cost === undefined ? "the cluster is not priced" : "the last valid prices stay in use";
        log.warn({ from, problem: reading.problem }, `prices cannot be read: ${stays}`);
        return;
      }
      lastProblem = undefined;
      if (JSON.stringify(reading.cost) === JSON.stringify(cost)) return;
      cost = reading.cost;
      log.info(
        { from, cost },
        cost === undefined ? "the cluster is not priced any more" : "prices are in use",
      );
      for (const listener of listeners) listener();
    },
    current: () => cost,
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
