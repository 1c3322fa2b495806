import { type Fit, logLogFit } from "../../measure/fit.ts";

/** What the broker takes when so many clusters have advertised. */
export interface ClustersStep {
  readonly clusters: number;
  /** CPU of the broker for one reservation: decision, commit, TLS and all. */
  readonly reservationUs: number;
  readonly advertisementUs: number;
  readonly rssMb: number;
}

/** What an agent takes in a cluster with so many pods. */
export interface PodsStep {
  readonly pods: number;
  readonly nodes: number;
  /** CPU from the start of the process until it is ready: everything is listed and advertised. */
  readonly syncCpuMs: number;
  readonly rssMb: number;
  readonly privateMb: number;
}

export interface GrowthResult {
  readonly clusters: readonly ClustersStep[];
  readonly pods: readonly PodsStep[];
  /** What went wrong, in words. */
  readonly wrong: readonly string[];
}

/** A figure that grows: how fast, as the exponent of a power. */
export interface Growth {
  readonly points: readonly { readonly x: number; readonly y: number }[];
  readonly fit: Fit | undefined;
}

export function growthOf<Step>(
  steps: readonly Step[],
  x: (step: Step) => number,
  y: (step: Step) => number,
): Growth {
  const points = steps.map((step) => ({ x: x(step), y: y(step) }));
  return { points, fit: logLogFit(points) };
}

/** `slope 0.12: hardly at all`. What starts high and grows late looks flatter than it is in the end: the last two points tell. */
export function slopeText({ points, fit }: Growth): string {
  if (fit === undefined) return "too few points for a slope";
  const end = logLogFit(points.slice(-2))?.slope ?? fit.slope;
  return `slope ${fit.slope.toFixed(2)} (log-log), ${end.toFixed(2)} between the last two: ${wordsFor(end)}`;
}

function wordsFor(slope: number): string {
  if (slope < 0.15) return "flat";
  if (slope < 0.6) return "slower than in proportion";
  if (slope < 1.15) return "about in proportion";
  return "faster than in proportion";
}
