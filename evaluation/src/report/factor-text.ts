import { countText, NOTHING } from "./number-text.ts";

/** Differences below this are noise. */
const SAME = 1.05;

/**
 * How much better ours is than theirs where less is better: `20×`, or `worse: 1.5×`. Where more is better, hand the two in
 * the other way round. Nothing is said where one of them is missing.
 */
export function factorText(ours: number | undefined, theirs: number | undefined): string {
  if (ours === undefined || theirs === undefined || ours <= 0 || theirs <= 0) return NOTHING;
  const factor = theirs / ours;
  if (factor >= SAME) return `${rounded(factor)}×`;
  return factor > 1 / SAME ? "the same" : `worse: ${rounded(1 / factor)}×`;
}

function rounded(factor: number): string {
  if (factor >= 10) return countText(factor);
  return factor.toFixed(1);
}
