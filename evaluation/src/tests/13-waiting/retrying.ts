import type { FleetSimulation, Job, SeededRandom } from "@resource-broker/testkit";
import { ask, hasRoomFor } from "./first-come.ts";

const RETRY_MS = 30_000;
/** Agents do not ask in step. */
const JITTER_MS = 3000;
const HOUR_MS = 3_600_000;
/** The engine writes no more of one requester in an hour. */
const MOST_RECORDED = 200;

interface RetryingOptions {
  readonly random: SeededRandom;
  readonly givesUpAfterMs: number;
}

/** As agents do today: whoever is refused asks again, and whoever asks at the right moment gets it. */
export class Retrying {
  calls = 0;
  /** Refusals that the broker would have written. */
  recordedRefusals = 0;
  waiting = 0;
  readonly #fleet: FleetSimulation;
  readonly #options: RetryingOptions;
  readonly #refusedInHour = new Map<string, number>();

  constructor(fleet: FleetSimulation, options: RetryingOptions) {
    this.#fleet = fleet;
    this.#options = options;
  }

  arrive(job: Job): void {
    this.waiting++;
    this.#ask(job);
  }

  /** A refusal is not computed but known: without a record of 20 clusters a trace takes seconds and not minutes. */
  #ask(job: Job): void {
    this.calls++;
    if (hasRoomFor(this.#fleet, job)) {
      this.waiting--;
      return ask(this.#fleet, job);
    }
    this.#refuse(job.requester);
    const { random, givesUpAfterMs } = this.#options;
    const pauseMs = random.between(RETRY_MS - JITTER_MS, RETRY_MS + JITTER_MS);
    if (this.#fleet.elapsedMs + pauseMs - job.atMs < givesUpAfterMs)
      this.#fleet.after(pauseMs, () => this.#ask(job));
    else this.waiting--;
  }

  #refuse(requester: string): void {
    const hour = `${requester} ${Math.floor(this.#fleet.elapsedMs / HOUR_MS)}`;
    const count = (this.#refusedInHour.get(hour) ?? 0) + 1;
    this.#refusedInHour.set(hour, count);
    if (count <= MOST_RECORDED) this.recordedRefusals++;
  }
}
