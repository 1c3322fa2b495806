import { UID_WORDS } from "./uid-words.ts";

/** State of an entry: free, known, or known but not yet seen in the current relist. */
export const FREE = 0;
export const KNOWN = 1;
export const UNSEEN = 2;

/** Entries of one piece of memory; a power of two. */
const CHUNK_SIZE = 2048;
const CHUNK_BITS = Math.log2(CHUNK_SIZE);

interface Chunk {
  readonly words: Uint32Array;
  readonly values: Float64Array;
  readonly states: Uint8Array;
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
  state(entry: number): number;
  setState(entry: number, mark: number): void;
}

export function uidEntries(): UidEntries {
  const chunks: Chunk[] = [];
  const free: number[] = [];
  let end = 0;

  function chunkOf(entry: number): Chunk {
    const chunk = chunks[entry >>> CHUNK_BITS];
    if (chunk === undefined) throw new RangeError(`there is no entry ${entry}`);
    return chunk;
  }

  function nextEntry(): number {
    const unused = free.pop();
    if (unused !== undefined) return unused;
    if (end === chunks.length * CHUNK_SIZE) chunks.push(newChunk());
    end += 1;
    return end - 1;
  }

  return {
    add(uid, value) {
      const entry = nextEntry();
      const { words, values, states } = chunkOf(entry);
      const at = entry & (CHUNK_SIZE - 1);
      for (let word = 0; word < UID_WORDS; word++) words[at * UID_WORDS + word] = uid[word] ?? 0;
      values[at] = value;
      states[at] = KNOWN;
      return entry;
    },
    remove(entry) {
      chunkOf(entry).states[entry & (CHUNK_SIZE - 1)] = FREE;
      free.push(entry);
    },
    end: () => end,
    is(entry, uid) {
      const { words } = chunkOf(entry);
      const at = (entry & (CHUNK_SIZE - 1)) * UID_WORDS;
      for (let word = 0; word < UID_WORDS; word++) if (words[at + word] !== uid[word]) return false;
      return true;
    },
    hash: (entry) => hashOf(chunkOf(entry).words, (entry & (CHUNK_SIZE - 1)) * UID_WORDS),
    value: (entry) => chunkOf(entry).values[entry & (CHUNK_SIZE - 1)] ?? 0,
    setValue(entry, value) {
      chunkOf(entry).values[entry & (CHUNK_SIZE - 1)] = value;
    },
    state: (entry) => chunkOf(entry).states[entry & (CHUNK_SIZE - 1)] ?? FREE,
    setState(entry, state) {
      chunkOf(entry).states[entry & (CHUNK_SIZE - 1)] = state;
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

function newChunk(): Chunk {
  return {
    words: new Uint32Array(CHUNK_SIZE * UID_WORDS),
    values: new Float64Array(CHUNK_SIZE),
    states: new Uint8Array(CHUNK_SIZE),
  };
}
