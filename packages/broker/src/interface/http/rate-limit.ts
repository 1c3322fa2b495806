import type { ClusterId, Instant } from "@resource-broker/domain";

export interface RateLimitOptions {
  readonly perSecond: number;
  readonly burst: number;
}

interface Bucket {
  tokens: number;
  at: Instant;
}

/** Full buckets carry no information; they are removed when there are this many buckets. */
const TIDY_AT = 4096;

/** One token bucket per cluster, so that a busy cluster does not affect others. */
export class RateLimit {
  readonly #options: RateLimitOptions;
  readonly #buckets = new Map<ClusterId, Bucket>();
  #tidyAt = TIDY_AT;

  constructor(options: RateLimitOptions) {
    this.#options = options;
  }

  /** Takes one token; returns how long to wait for the next one when there is none, and 0 otherwise. */
  take(clusterId: ClusterId, now: Instant): number {
    const { perSecond, burst } = this.#options;
    const bucket = this.#buckets.get(clusterId);
    if (bucket === undefined) {
      this.#tidy(now);
      this.#buckets.set(clusterId, { tokens: burst - 1, at: now });
      return 0;
    }
    const earned = ((now - bucket.at) * perSecond) / 1000;
    bucket.tokens = Math.min(burst, bucket.tokens + earned);
    bucket.at = now;
    if (bucket.tokens < 1) return Math.ceil(((1 - bucket.tokens) * 1000) / perSecond);
    bucket.tokens--;
    return 0;
  }

  get size(): number {
    return this.#buckets.size;
  }

  #tidy(now: Instant): void {
    if (this.#buckets.size < this.#tidyAt) return;
    const fullAfterMs = (this.#options.burst * 1000) / this.#options.perSecond;
    for (const [clusterId, { at }] of this.#buckets) {
      if (now - at > fullAfterMs) this.#buckets.delete(clusterId);
    }
    this.#tidyAt = Math.max(TIDY_AT, 2 * this.#buckets.size);
  }
}
