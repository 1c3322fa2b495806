import type { SeededRandom } from "@resource-broker/testkit";

/** How often things go wrong: probabilities for each occasion. All zero once the world is healed. */
export interface FaultRates {
  /** After any step. */
  crash: number;
  jumpWall: number;
  leap: number;
  pause: number;
  partition: number;
  fillDisk: number;
  /** For each message. */
  drop: number;
  duplicate: number;
  delay: number;
  /** For each call of the store. */
  slowDisk: number;
  notCommitted: number;
  unknownOutcome: number;
  storeCall: number;
}

const MOST: FaultRates = {
  crash: 0.008,
  jumpWall: 0.004,
  leap: 0.000_6,
  pause: 0.002,
  partition: 0.004,
  fillDisk: 0.001,
  drop: 0.12,
  duplicate: 0.12,
  delay: 0.1,
  slowDisk: 0.1,
  notCommitted: 0.05,
  unknownOutcome: 0.08,
  storeCall: 0.2,
};

/** Some worlds are calm in one way and wild in another: bugs hide where one fault is rare enough for others to matter. */
export function drawRates(random: SeededRandom): FaultRates {
  const rates = { ...MOST };
  for (const name of names(rates)) rates[name] *= random.pick([0, 0.25, 1, 1, 2]) ?? 0;
  return rates;
}

export function heal(rates: FaultRates): void {
  for (const name of names(rates)) rates[name] = 0;
}

function names(rates: FaultRates): (keyof FaultRates)[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a record that was just made
  return Object.keys(rates) as (keyof FaultRates)[];
}
