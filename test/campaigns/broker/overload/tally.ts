/** Answers that come later help nobody any more. */
const IN_TIME_MS = 5000;

export interface LoadResult {
  readonly sent: number;
  readonly good: number;
  /** Told to come again: nothing was booked. */
  readonly turnedAway: number;
  /** Answered too late, wrongly, or never. */
  readonly lost: number;
  readonly goodPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Counts answers between `begin` and `end`, which may come several times. */
export class Tally {
  readonly #now: () => number;
  readonly #latencies: number[] = [];
  #beganAt: number | undefined;
  #elapsedMs = 0;
  #turnedAway = 0;
  #lost = 0;
  /** Requests that found every connection full. */
  unsent = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  begin(): void {
    this.#beganAt = this.#now();
  }

  end(): void {
    if (this.#beganAt !== undefined) this.#elapsedMs += this.#now() - this.#beganAt;
    this.#beganAt = undefined;
  }

  count({ status, latencyMs }: { readonly status: number; readonly latencyMs: number }): void {
    if (this.#beganAt === undefined) return;
    if ((status === 200 || status === 201) && latencyMs <= IN_TIME_MS) this.#latencies.push(latencyMs);
    else if (status === 429 || status === 503) this.#turnedAway++;
    else this.#lost++;
  }

  goodRate(): number {
    return (this.#latencies.length * 1000) / this.#elapsedMs;
  }

  result(): LoadResult {
    const sorted = this.#latencies.toSorted((a, b) => a - b);
    const good = sorted.length;
    return {
      sent: good + this.#turnedAway + this.#lost + this.unsent,
      good,
      turnedAway: this.#turnedAway + this.unsent,
      lost: this.#lost,
      goodPerSecond: Math.round(this.goodRate()),
      p50Ms: Math.round(sorted[good >> 1] ?? 0),
      p99Ms: Math.round(sorted[Math.floor(good * 0.99)] ?? 0),
    };
  }

  describe(): string {
    const { good, goodPerSecond, turnedAway, lost, p50Ms, p99Ms } = this.result();
    const rest = `${turnedAway} turned away (${this.unsent} not even sent), ${lost} lost`;
    return `${goodPerSecond}/s served (${good}), ${rest}, p50 ${p50Ms} ms, p99 ${p99Ms} ms`;
  }
}
