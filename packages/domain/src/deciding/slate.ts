/** Scratch memory for the candidates that fit. */
interface Slate {
  readonly fitting: Int32Array;
  readonly headrooms: Float64Array;
  readonly prices: Float64Array;
  readonly scores: Float64Array;
}

/**
 * Shared by all decisions and overwritten by the next one: allocating per decision would cost zeroing and garbage collection.
 * No reference to it may outlive the decision.
 */
let slate = ofSize(1024);

/** The buffers, large enough for this number of candidates. */
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
