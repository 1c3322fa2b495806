const DAY_MS = 24 * 60 * 60 * 1000;

/** History is kept up to a number and up to an age, whichever is reached first. */
export interface Keep {
  readonly atMost: number;
  readonly forMs: number;
}

export interface Retention {
  readonly decisions: Keep;
  readonly audit: Keep;
}

export const DEFAULT_RETENTION: Retention = {
  decisions: { atMost: 50_000, forMs: 30 * DAY_MS },
  audit: { atMost: 1_000_000, forMs: 90 * DAY_MS },
};
