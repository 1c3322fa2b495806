/** Random numbers that come again with the same seed. */
export interface SeededRandom {
  /** A whole number from 0 to below `limit`. */
  readonly below: (limit: number) => number;
  readonly between: (least: number, most: number) => number;
  /** True with this probability. */
  readonly chance: (probability: number) => boolean;
  readonly pick: <T>(list: readonly T[]) => T | undefined;
  /** Another generator that does not depend on how often this one is asked. */
  readonly fork: (name: number) => SeededRandom;
}

const RANGE = 2 ** 32;

export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  // A Weyl sequence whose steps are mixed by multiplications: small, and good enough to choose moments by.
  const next = (): number => {
    state = (state + 0x9e37_79b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0_aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a_2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
  const below = (limit: number): number => Math.floor((next() / RANGE) * limit);
  return {
    below,
    between: (least, most) => least + below(most - least + 1),
    chance: (probability) => next() / RANGE < probability,
    pick: (list) => list[below(list.length)],
    fork: (name) =>
      seededRandom(Math.imul(seed ^ 0x5bd1_e995, 0x85eb_ca6b) ^ Math.imul(name + 1, 0xc2b2_ae35)),
  };
}
