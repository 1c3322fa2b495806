import { type Decision, FILTER_NAMES, type Instant } from "@resource-broker/domain";
import type { UnmetReason } from "./metrics.ts";

const MINUTE_MS = 60_000;
const MINUTES = 5;

export const UNMET_REASONS: readonly UnmetReason[] = [
  ...FILTER_NAMES.filter((name) => name !== "self"),
  "quota",
  "no-clusters",
];

/** The reason that most clusters had; of several the one that is asked first. */
export function unmetReason({ refusedBy }: Pick<Decision, "refusedBy">): UnmetReason {
  let most = 0;
  let reason: UnmetReason = "no-clusters";
  for (const name of FILTER_NAMES) {
    const count = name === "self" ? 0 : (refusedBy[name] ?? 0);
    if (count > most) [most, reason] = [count, name];
  }
  return reason;
}

/** Refused requests of the last minutes, by reason; `onRefused` hears of each of them. */
export class UnmetDemand {
  readonly #minutes = new Map<number, Map<UnmetReason, number>>();
  readonly #onRefused: (reason: UnmetReason) => void;

  constructor(onRefused: (reason: UnmetReason) => void) {
    this.#onRefused = onRefused;
  }

  add(reason: UnmetReason, now: Instant): void {
    this.#onRefused(reason);
    const minute = Math.floor(now / MINUTE_MS);
    const counts = this.#minutes.get(minute) ?? new Map<UnmetReason, number>();
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
    this.#minutes.set(minute, counts);
    this.#forget(minute);
  }

  count(reason: UnmetReason, now: Instant): number {
    this.#forget(Math.floor(now / MINUTE_MS));
    let total = 0;
    for (const counts of this.#minutes.values()) total += counts.get(reason) ?? 0;
    return total;
  }

  #forget(minute: number): void {
    for (const past of this.#minutes.keys()) if (past <= minute - MINUTES) this.#minutes.delete(past);
  }
}
