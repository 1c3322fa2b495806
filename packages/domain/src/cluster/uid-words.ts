/** A UUID is 128 bits: so many words of 32. */
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
