import { readUid, UID_WORDS } from "./uid-words.ts";
import { listedMap } from "./listed-map.ts";

/**
 * Numbers by uid, for as many objects as a cluster has pods: about 40 bytes each, none of which the garbage collector
 * looks at, where a Map takes 150 and more. It can be listed anew without a second copy: between `beginList` and
 * `endList` everything stays in force, and a list that breaks off is simply begun again.
 */
export interface UidTable {
  get(uid: string): number | undefined;
  set(uid: string, value: number): void;
  delete(uid: string): void;
  beginList(): void;
  /** Drops what was not set since the list began, and tells the values of it. */
  endList(onDropped: (value: number) => void): void;
}

/** A slot holds nothing, something known, or something known that the list under way has not shown yet. */
const EMPTY = 0;
const KNOWN = 1;
const UNSEEN = 2;

const FIRST_SLOTS = 64;
/** Fuller than this, searches grow long. */
const FULL = 0.75;

/** API servers make UUIDs. Whatever else is called a uid is rare, and kept in an ordinary map. */
export function uidTable(): UidTable {
  const uuids = wordsTable();
  const others = listedMap<number>();
  const key = new Uint32Array(UID_WORDS);
  return {
    get: (uid) => (readUid(uid, key) ? uuids.get(key) : others.get(uid)),
    set: (uid, value) => (readUid(uid, key) ? uuids.set(key, value) : others.set(uid, value)),
    delete: (uid) => (readUid(uid, key) ? uuids.delete(key) : others.delete(uid)),
    beginList() {
      uuids.beginList();
      others.beginList();
    },
    endList(onDropped) {
      uuids.endList(onDropped);
      for (const uid of others.endList()) {
        const value = others.get(uid);
        others.delete(uid);
        if (value !== undefined) onDropped(value);
      }
    },
  };
}

/** Slots in a row; an entry is in the slot that its words point to, or in the first that was empty behind it. */
interface Slots {
  readonly words: Uint32Array;
  readonly values: Float64Array;
  readonly marks: Uint8Array;
}

function slotsFor(count: number): Slots {
  return {
    words: new Uint32Array(count * UID_WORDS),
    values: new Float64Array(count),
    marks: new Uint8Array(count),
  };
}

function wordsTable() {
  let slots = slotsFor(FIRST_SLOTS);
  let size = 0;

  function grow(): void {
    const before = slots;
    slots = slotsFor(2 * before.marks.length);
    for (let slot = 0; slot < before.marks.length; slot++) {
      if (before.marks[slot] !== EMPTY) copySlot(before, slot, { slots, slot: freeSlotFor(before, slot) });
    }
  }

  /** No entry is there twice, so that there is nothing to compare. */
  function freeSlotFor(before: Slots, from: number): number {
    let slot = homeOf(before.words, from * UID_WORDS, slots);
    while (slots.marks[slot] !== EMPTY) slot = next(slot, slots);
    return slot;
  }

  /** Moves up what could not be in its own place, so that searches may end at every empty slot. */
  function empty(dropped: number): void {
    let hole = dropped;
    for (let slot = next(hole, slots); slots.marks[slot] !== EMPTY; slot = next(slot, slots)) {
      const home = homeOf(slots.words, slot * UID_WORDS, slots);
      if (distance(home, slot, slots) < distance(hole, slot, slots)) continue;
      copySlot(slots, slot, { slots, slot: hole });
      hole = slot;
    }
    slots.marks[hole] = EMPTY;
    size -= 1;
  }

  return {
    get(key: Uint32Array): number | undefined {
      const slot = find(slots, key);
      return slots.marks[slot] === EMPTY ? undefined : slots.values[slot];
    },
    set(key: Uint32Array, value: number): void {
      let slot = find(slots, key);
      if (slots.marks[slot] === EMPTY) {
        size += 1;
        if (size > FULL * slots.marks.length) {
          grow();
          slot = find(slots, key);
        }
        slots.words.set(key, slot * UID_WORDS);
      }
      slots.values[slot] = value;
      slots.marks[slot] = KNOWN;
    },
    delete(key: Uint32Array): void {
      const slot = find(slots, key);
      if (slots.marks[slot] !== EMPTY) empty(slot);
    },
    beginList(): void {
      for (let slot = 0; slot < slots.marks.length; slot++) {
        if (slots.marks[slot] === KNOWN) slots.marks[slot] = UNSEEN;
      }
    },
    endList(onDropped: (value: number) => void): void {
      // What moves up into the emptied slot is looked at next; what comes from the front has been looked at.
      for (let slot = 0; slot < slots.marks.length; slot++) {
        while (slots.marks[slot] === UNSEEN) {
          const value = slots.values[slot] ?? 0;
          empty(slot);
          onDropped(value);
        }
      }
    },
  };
}

/** The slot of the key, or the empty one where it would be. */
function find(slots: Slots, key: Uint32Array): number {
  let slot = homeOf(key, 0, slots);
  while (slots.marks[slot] !== EMPTY && !isAt(slots.words, slot * UID_WORDS, key)) slot = next(slot, slots);
  return slot;
}

function isAt(words: Uint32Array, at: number, key: Uint32Array): boolean {
  for (let word = 0; word < UID_WORDS; word++) if (words[at + word] !== key[word]) return false;
  return true;
}

function homeOf(words: Uint32Array, at: number, { marks }: Slots): number {
  let hash = 0;
  for (let word = 0; word < UID_WORDS; word++) {
    hash = Math.imul(hash ^ (words[at + word] ?? 0), 0x9e37_79b1);
    hash ^= hash >>> 15;
  }
  return hash & (marks.length - 1);
}

function next(slot: number, { marks }: Slots): number {
  return (slot + 1) & (marks.length - 1);
}

function distance(from: number, to: number, { marks }: Slots): number {
  return (to - from) & (marks.length - 1);
}

function copySlot(from: Slots, slot: number, to: { readonly slots: Slots; readonly slot: number }): void {
  const at = slot * UID_WORDS;
  to.slots.words.set(from.words.subarray(at, at + UID_WORDS), to.slot * UID_WORDS);
  to.slots.values[to.slot] = from.values[slot] ?? 0;
  to.slots.marks[to.slot] = from.marks[slot] ?? EMPTY;
}
