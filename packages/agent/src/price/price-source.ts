import type { CostDTO } from "@resource-broker/contract";

/** Where a cluster's prices come from. */
export interface PriceSource {
  /** Resolves when the prices are known, or known to be absent. */
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  /** Undefined: the cluster is not priced. */
  readonly current: () => CostDTO | undefined;
  readonly onChange: (listener: () => void) => () => void;
}

/** Prices that do not change while the agent runs; undefined: not priced. */
export function fixedPrices(cost: CostDTO | undefined): PriceSource {
  return {
    start: async () => undefined,
    stop: async () => undefined,
    current: () => cost,
    onChange: () => () => undefined,
  };
}
