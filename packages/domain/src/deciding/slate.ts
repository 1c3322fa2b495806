/** Where deciding notes down the candidates that fit, side by side. */
interface Slate {
  readonly fitting: Int32Array;
  readonly headrooms: Float64Array;
  readonly prices: Float64Array;
  readonly scores: Float64Array;
}

/**
 * One for all decisions, wiped by the next: a fresh one for each would have to be cleared before it is written, and its
 * memory given back by the garbage collector. Nothing on it may outlive the decision.
 */
let slate = ofSize(1024);

/** A slate with room for so many candidates. */
export function slateFor(candidates: number): Slate {
  if (candidates > slate.fitting.length) slate = ofSize(2 * candidates);
  return slate;
}

function ofSize(size: number): Slate {
  return {
    fitting: new Int32Array(size),
    headrooms: new Float64Array(size),
    prices: new Float64Array(size),
    scores: new Float64Array(size),
  };
}
