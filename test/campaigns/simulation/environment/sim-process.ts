import type { Clock } from "@resource-broker/base";
import type { SeededRandom } from "@resource-broker/testkit";
import type { Scheduler } from "./scheduler.ts";

/** Timers are late, never early. */
const LATEST_MS = 2;

/** The wall clock that everybody shares, and anybody may set. */
export class WallClock {
  readonly #scheduler: Scheduler;
  #ahead: number;

  constructor(scheduler: Scheduler, startMs: number) {
    this.#scheduler = scheduler;
    this.#ahead = startMs;
  }

  read(): number {
    return Math.floor(this.#ahead + this.#scheduler.now);
  }

  jump(milliseconds: number): void {
    this.#ahead += milliseconds;
  }
}

/** One life of the broker's process: when it dies, whatever it was about to do never happens. */
export class SimProcess implements Clock {
  readonly #scheduler: Scheduler;
  readonly #wall: WallClock;
  readonly #random: SeededRandom;
  readonly #bornAt: number;
  #isDead = false;
  #pausedUntil = 0;

  constructor(scheduler: Scheduler, wall: WallClock, random: SeededRandom) {
    this.#scheduler = scheduler;
    this.#wall = wall;
    this.#random = random;
    // A monotonic clock begins anywhere.
    this.#bornAt = scheduler.now - random.below(1e6) / 7;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  get isPaused(): boolean {
    return this.#scheduler.now < this.#pausedUntil;
  }

  readonly wallMs = (): number => this.#wall.read();

  readonly monotonicMs = (): number => this.#scheduler.now - this.#bornAt;

  readonly after = (delayMs: number, action: () => void): (() => void) =>
    this.later(delayMs + (this.#random.below(100) / 100) * LATEST_MS, "timer", action);

  /** Something that this process does, if it still lives then. */
  later(delayMs: number, name: string, action: () => void): () => void {
    let cancel: () => void;
    const run = (): void => {
      if (this.#isDead) return;
      const restMs = this.#pausedUntil - this.#scheduler.now;
      if (restMs > 0) cancel = this.#scheduler.after(restMs, name, run);
      else action();
    };
    cancel = this.#scheduler.after(delayMs, name, run);
    return () => cancel();
  }

  /** SIGSTOP, and SIGCONT so much later. */
  pause(milliseconds: number): void {
    this.#pausedUntil = this.#scheduler.now + milliseconds;
  }

  kill(): void {
    this.#isDead = true;
  }
}
