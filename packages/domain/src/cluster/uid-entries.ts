import { UID_WORDS } from "./uid-words.ts";

/** State of an entry: free, known, or known but not yet seen in the current relist. */
export const FREE = 0;
export const KNOWN = 1;
export const UNSEEN = 2;

/** Entries of one piece of memory; a power of two. */
const PIECE = 2048;
const PIECE_BITS = Math.log2(PIECE);

interface Piece {
  readonly words: Uint32Array;
  readonly values: Float64Array;
  readonly marks: Uint8Array;
}

/**
 * UIDs with one number each, indexed from 0. They are stored in fixed chunks of memory, so growing copies nothing and
 * leaves no garbage.
 */
export interface UidEntries {
  add(uid: Uint32Array, value: number): number;
  remove(entry: number): void;
  /** One above the highest index, free entries included. */
  end(): number;
  is(entry: number, uid: Uint32Array): boolean;
  hash(entry: number): number;
  value(entry: number): number;
  setValue(entry: number, value: number): void;
  mark(entry: number): number;
  setMark(entry: number, mark: number): void;
}

export function uidEntries(): UidEntries {
  const pieces: Piece[] = [];
  const free: number[] = [];
  let end = 0;

  function pieceOf(entry: number): Piece {
    const piece = pieces[entry >>> PIECE_BITS];
    if (piece === undefined) throw new RangeError(`there is no entry ${entry}`);
    return piece;
  }

  function nextEntry(): number {
    const unused = free.pop();
    if (unused !== undefined) return unused;
    if (end === pieces.length * PIECE) pieces.push(newPiece());
    end += 1;
    return end - 1;
  }

  return {
    add(uid, value) {
      const entry = nextEntry();
      const { words, values, marks } = pieceOf(entry);
      const at = entry & (PIECE - 1);
      for (let word = 0; word < UID_WORDS; word++) words[at * UID_WORDS + word] = uid[word] ?? 0;
      values[at] = value;
      marks[at] = KNOWN;
      return entry;
    },
    remove(entry) {
      pieceOf(entry).marks[entry & (PIECE - 1)] = FREE;
      free.push(entry);
    },
    end: () => end,
    is(entry, uid) {
      const { words } = pieceOf(entry);
      const at = (entry & (PIECE - 1)) * UID_WORDS;
      for (let word = 0; word < UID_WORDS; word++) if (words[at + word] !== uid[word]) return false;
      return true;
    },
    hash: (entry) => hashOf(pieceOf(entry).words, (entry & (PIECE - 1)) * UID_WORDS),
    value: (entry) => pieceOf(entry).values[entry & (PIECE - 1)] ?? 0,
    setValue(entry, value) {
      pieceOf(entry).values[entry & (PIECE - 1)] = value;
    },
    mark: (entry) => pieceOf(entry).marks[entry & (PIECE - 1)] ?? FREE,
    setMark(entry, mark) {
      pieceOf(entry).marks[entry & (PIECE - 1)] = mark;
    },
  };
}

/** Of the uid that begins there. */
export function hashOf(words: Uint32Array, at: number): number {
  let hash = 0;
  for (let word = 0; word < UID_WORDS; word++) {
    hash = Math.imul(hash ^ (words[at + word] ?? 0), 0x9e37_79b1);
    hash ^= hash >>> 15;
  }
  return hash;
}

function newPiece(): Piece {
  return {
    words: new Uint32Array(PIECE * UID_WORDS),
    values: new Float64Array(PIECE),
    marks: new Uint8Array(PIECE),
  };
}
