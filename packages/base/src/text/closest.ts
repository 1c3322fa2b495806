/** The known word a person most likely meant, for "did you mean …?"; undefined when none is near. */
export function closest(word: string, known: Iterable<string>): string | undefined {
  const wanted = word.slice(0, MAX_LENGTH).toLowerCase();
  let best: string | undefined;
  let bestDistance = maxDistance(wanted) + 1;
  for (const candidate of known) {
    const distance = editDistance(wanted, candidate.slice(0, MAX_LENGTH).toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Maximum edit distance by word length. */
function maxDistance({ length }: string): number {
  return length <= SHORT ? 1 : Math.max(2, Math.floor(length / 3));
}

const SHORT = 5;

/** Bounds the work on hostile input; no name of ours is longer. */
const MAX_LENGTH = 64;

/** Edit distance with insertions, removals, substitutions and transpositions of neighbours. */
function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = at(previous, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwap ? at(beforePrevious, j - 2) + 1 : change;
      current.push(Math.min(at(previous, j) + 1, at(current, j - 1) + 1, change, swap));
    }
    beforePrevious = previous;
    previous = current;
  }
  return at(previous, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
