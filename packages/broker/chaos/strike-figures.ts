import type { Strike, StrikeKind } from "./target.ts";

/** As they are called in reports and records. */
const NAMES: Readonly<Record<StrikeKind, string>> = {
  kill: "kills",
  damage: "damagedLedgers",
  pause: "pauses",
  suspend: "suspensions",
  cut: "cuts",
  database: "databaseRestarts",
  "api-server": "apiServerRestarts",
};

/** How many there were of each kind that was there at all. */
export function countsByKind(strikes: readonly Strike[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { kind, times = 1 } of strikes) counts[NAMES[kind]] = (counts[NAMES[kind]] ?? 0) + times;
  return counts;
}

/** How long nobody was served, in whole milliseconds; empty when there was no such strike. */
export function downTimes(strikes: readonly Strike[], kind: StrikeKind): Record<string, number> {
  const sorted = strikes.filter((strike) => strike.kind === kind).map(({ downMs }) => Math.round(downMs));
  sorted.sort((a, b) => a - b);
  const [min] = sorted;
  const median = sorted[sorted.length >> 1];
  const max = sorted.at(-1);
  return min === undefined || median === undefined || max === undefined ? {} : { min, median, max };
}
