/** Number of 32-bit words in a UUID of 128 bits. */
export const UID_WORDS = 4;

const LENGTH = 36;
const DASH = 0x2d;
/** Where the digits of each word begin; they are read in groups of four, between which a dash may be. */
const GROUPS = [0, 4, 9, 14, 19, 24, 28, 32] as const;
const DASHES = [8, 13, 18, 23] as const;
const NOT_HEX = -1;

/**
 * Reads a UUID as Kubernetes writes it, in small letters, and allocates nothing for it. False: it is something else,
 * also where only the case of a letter differs, since two texts must never become the same words.
 */
export function readUid(text: string, words: Uint32Array): boolean {
  if (text.length !== LENGTH) return false;
  for (const at of DASHES) if (text.charCodeAt(at) !== DASH) return false;
  for (let word = 0; word < UID_WORDS; word++) {
    const high = readGroup(text, GROUPS[2 * word] ?? 0);
    const low = readGroup(text, GROUPS[2 * word + 1] ?? 0);
    if (high === NOT_HEX || low === NOT_HEX) return false;
    words[word] = (high << 16) | low;
  }
  return true;
}

function readGroup(text: string, start: number): number {
  let value = 0;
  for (let at = start; at < start + 4; at++) {
    const digit = hexDigit(text.charCodeAt(at));
    if (digit === NOT_HEX) return NOT_HEX;
    value = value * 16 + digit;
  }
  return value;
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  return code >= 0x61 && code <= 0x66 ? code - 0x57 : NOT_HEX;
}

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
export function uidEntries() {
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
    add(uid: Uint32Array, value: number): number {
      const entry = nextEntry();
      const { words, values, states } = chunkOf(entry);
      const at = entry & (CHUNK_SIZE - 1);
      for (let word = 0; word < UID_WORDS; word++) words[at * UID_WORDS + word] = uid[word] ?? 0;
      values[at] = value;
      states[at] = KNOWN;
      return entry;
    },
    remove(entry: number): void {
      chunkOf(entry).states[entry & (CHUNK_SIZE - 1)] = FREE;
      free.push(entry);
    },
    /** One above the highest index, free entries included. */
    end: () => end,
    is(entry: number, uid: Uint32Array): boolean {
      const { words } = chunkOf(entry);
      const at = (entry & (CHUNK_SIZE - 1)) * UID_WORDS;
      for (let word = 0; word < UID_WORDS; word++) if (words[at + word] !== uid[word]) return false;
      return true;
    },
    hash: (entry: number) => hashOf(chunkOf(entry).words, (entry & (CHUNK_SIZE - 1)) * UID_WORDS),
    value: (entry: number) => chunkOf(entry).values[entry & (CHUNK_SIZE - 1)] ?? 0,
    setValue(entry: number, value: number): void {
      chunkOf(entry).values[entry & (CHUNK_SIZE - 1)] = value;
    },
    state: (entry: number) => chunkOf(entry).states[entry & (CHUNK_SIZE - 1)] ?? FREE,
    setState(entry: number, state: number): void {
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
