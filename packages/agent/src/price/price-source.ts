import type { Log } from "@resource-broker/base";
import { type CostDTO, costSchema, describeProblem, validateExactly } from "@resource-broker/contract";
import type { ReportReload } from "@resource-broker/runtime";

/** Where a cluster's prices come from. */
export interface PriceSource {
  /** Resolves when the prices are known, or known to be absent. */
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  /** Undefined: the cluster is not priced. */
  readonly current: () => CostDTO | undefined;
  readonly onChange: (listener: () => void) => void;
}

/** Prices that do not change while the agent runs; undefined: not priced. */
export function fixedPrices(cost: CostDTO | undefined): PriceSource {
  return {
    start: async () => undefined,
    stop: async () => undefined,
    current: () => cost,
    onChange: () => undefined,
  };
}

/** Prices as read: valid, deliberately absent, or invalid. */
export type CostReading =
  | { readonly ok: true; readonly cost: CostDTO | undefined }
  | { readonly ok: false; readonly problem: string };

/** `names`: what a field of the CostDTO is called where it was written. */
export function readCost(input: unknown, names: Readonly<Record<string, string>> = {}): CostReading {
  const result = validateExactly(costSchema, input);
  if (result.ok) return { ok: true, cost: result.value };
  const problem = result.problems
    .map(({ path, message }) => describeProblem({ path: names[path] ?? path, message }))
    .join("; ");
  return { ok: false, problem };
}

/** JSON, or what is wrong with it. */
export type Parsed =
  | { readonly ok: true; readonly content: unknown }
  | { readonly ok: false; readonly problem: string };

interface PriceReadingDeps {
  readonly log: Log;
  /** Called with each problem, and with undefined when it is solved. */
  readonly report?: ReportReload | undefined;
}

/**
 * Prices that are reloaded: an invalid reading is logged once and changes nothing. `from`: the file or object, as
 * messages name it.
 */
export function lastGoodPrices(from: string, { log, report }: PriceReadingDeps) {
  const listeners: (() => void)[] = [];
  let cost: CostDTO | undefined;
  let lastProblem: string | undefined;
  /** Readings are asynchronous: only the newest counts, and none after the stop. */
  let newest = 0;

  const update = (reading: CostReading): void => {
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
    log.info({ from, cost }, cost === undefined ? "the cluster is not priced any more" : "prices are in use");
    for (const listener of listeners) listener();
  };

  return {
    update,
    updateWhenRead: async (reading: Promise<CostReading>): Promise<void> => {
      const mine = ++newest;
      const read = await reading;
      if (mine === newest) update(read);
    },
    ignoreReadings: (): void => {
      newest++;
    },
    current: () => cost,
    onChange: (listener: () => void): void => void listeners.push(listener),
  };
}
