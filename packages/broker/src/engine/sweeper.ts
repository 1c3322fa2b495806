import type { Clock } from "@resource-broker/base";
import type { Instant, Reply } from "@resource-broker/domain";

/** Expiry is at most this late, and a lost requester is noticed at most this late. */
const LONGEST_SLEEP_MS = 1000;

export interface SweeperDeps {
  readonly clock: Pick<Clock, "after">;
  /** The ledger's time. */
  readonly now: () => Instant;
  /** When something is due next; undefined when nothing is. */
  readonly nextDeadline: () => number | undefined;
  /** True if every check must sweep: a requester may be lost, or the store has to be retried. */
  readonly isSweepNeeded: () => boolean;
  readonly sweep: () => Promise<Reply>;
}

/** Sleeps until the next deadline and then sweeps. A failed sweep is retried at the next check. */
export class Sweeper {
  readonly #deps: SweeperDeps;
  #cancel: (() => void) | undefined;
  #isSweeping = false;
  #isStopped = false;

  constructor(deps: SweeperDeps) {
    this.#deps = deps;
  }

  /** To be called whenever deadlines may have changed. */
  arm(): void {
    if (this.#isStopped || this.#isSweeping) return;
    this.#cancel?.();
    const { clock, now, nextDeadline } = this.#deps;
    const untilDueMs = (nextDeadline() ?? Number.POSITIVE_INFINITY) - now();
    const sleepMs = Math.min(Math.max(untilDueMs, 0), LONGEST_SLEEP_MS);
    this.#cancel = clock.after(sleepMs, () => void this.#check());
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
  }

  async #check(): Promise<void> {
    const { clock, now, nextDeadline, isSweepNeeded, sweep } = this.#deps;
    const isDue = (nextDeadline() ?? Number.POSITIVE_INFINITY) <= now();
    this.#isSweeping = true;
    let hasFailed = false;
    if (isDue || isSweepNeeded()) {
      try {
        await sweep();
      } catch {
        hasFailed = true; // already reported to the observer; the deadline is still due
      }
    }
    this.#isSweeping = false;
    if (hasFailed && !this.#isStopped) this.#cancel = clock.after(LONGEST_SLEEP_MS, () => void this.#check());
    else this.arm();
  }
}
