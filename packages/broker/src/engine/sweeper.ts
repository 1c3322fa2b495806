import type { Reply } from "@resource-broker/domain";
import type { LedgerClock } from "./clock.ts";

/** Expiry is at most this late, and a lost requester is noticed at most this late. */
const LONGEST_SLEEP_MS = 1000;

export interface SweeperDeps {
  readonly clock: LedgerClock;
  /** When something is due next; undefined when nothing is. */
  readonly nextDeadline: () => number | undefined;
  /** True if every check must sweep: a requester may be lost, or the store has to be retried. */
  readonly needsAttention: () => boolean;
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
    const { clock, nextDeadline } = this.#deps;
    const untilDueMs = (nextDeadline() ?? Number.POSITIVE_INFINITY) - clock.now();
    const sleepMs = Math.min(Math.max(untilDueMs, 0), LONGEST_SLEEP_MS);
    this.#cancel = clock.after(sleepMs, () => void this.#look());
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
  }

  async #look(): Promise<void> {
    const { clock, nextDeadline, needsAttention, sweep } = this.#deps;
    const isDue = (nextDeadline() ?? Number.POSITIVE_INFINITY) <= clock.now();
    this.#isSweeping = true;
    let hasFailed = false;
    if (isDue || needsAttention()) {
      try {
        await sweep();
      } catch {
        hasFailed = true; // already reported to the observer; the deadline is still due
      }
    }
    this.#isSweeping = false;
    if (hasFailed && !this.#isStopped) this.#cancel = clock.after(LONGEST_SLEEP_MS, () => void this.#look());
    else this.arm();
  }
}
