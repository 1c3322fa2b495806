import type { BrokerClient, BrokerProcess, SeededRandom } from "@resource-broker/testkit";
import type { LedgerSnapshot } from "./ledger-snapshot.ts";

/** What is done to a target. */
export type StrikeKind = "kill" | "damage" | "pause" | "suspend" | "cut" | "database" | "api-server";

export interface Strike {
  readonly kind: StrikeKind;
  /** What happened, in words. */
  readonly what: string;
  /** From the strike until calls were served again. */
  readonly downMs: number;
  /** How often it was done before calls were served again. Absent: once. */
  readonly times?: number;
  /** What the broker did about it that it must never do. Absent: nothing. */
  readonly problems?: readonly string[];
}

/** What a campaign disturbs: a broker on its own ledger, or several replicas on one. */
export interface Target {
  readonly clientFor: BrokerProcess["clientFor"];
  readonly admin: () => BrokerClient;
  /** Does something bad to it; resolves when it serves again. */
  readonly strike: (random: SeededRandom) => Promise<Strike>;
  /** Ends it in good order; returns what its store holds, and what was wrong with the end. */
  readonly close: () => Promise<{ readonly snapshot: LedgerSnapshot; readonly problems: readonly string[] }>;
  readonly dispose: () => Promise<void>;
}

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
