import type { Instant, UnmetReason } from "@resource-broker/domain";

const MINUTE_MS = 60_000;
const MINUTES = 5;

/** Refused requests of the last minutes, by reason; `onRefused` is called for each of them. */
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
