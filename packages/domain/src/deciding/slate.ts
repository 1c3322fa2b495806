/** Scratch memory for the candidates that fit. */
interface ScratchBuffers {
  readonly fitting: Int32Array;
  readonly headrooms: Float64Array;
  readonly prices: Float64Array;
  readonly scores: Float64Array;
}

/**
 * Shared by all decisions and overwritten by the next one: allocating per decision would cost zeroing and garbage collection.
 * No reference to it may outlive the decision.
 */
let buffers = allocateBuffers(1024);

/** The buffers, large enough for this number of candidates. */
export function scratchBuffers(candidates: number): ScratchBuffers {
  if (candidates > buffers.fitting.length) buffers = allocateBuffers(2 * candidates);
  return buffers;
}

function allocateBuffers(size: number): ScratchBuffers {
  return {
    fitting: new Int32Array(size),
    headrooms: new Float64Array(size),
    prices: new Float64Array(size),
    scores: new Float64Array(size),
  };
}
