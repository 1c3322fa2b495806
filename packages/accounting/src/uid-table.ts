import { relistMap } from "./relist-map.ts";
import { FREE, hashOf, KNOWN, readUid, UID_WORDS, UNSEEN, uidEntries } from "./uid-entries.ts";

/**
 * Numbers by uid, for as many objects as a cluster has pods: about 33 bytes each, none of which the garbage collector
 * looks at, while a Map takes 150 and more. It supports a relist without a second copy: between `beginList` and `endList` all
 * entries stay valid, and an aborted list is started again.
 */
export type UidTable = ReturnType<typeof uidTable>;

/** API servers create UUIDs. Other UIDs are rare and are kept in an ordinary map. */
export function uidTable() {
  const uuids = uuidTable();
  const others = relistMap<number>();
  const key = new Uint32Array(UID_WORDS);
  return {
    get: (uid: string): number | undefined => (readUid(uid, key) ? uuids.get(key) : others.get(uid)),
    set: (uid: string, value: number): void =>
      readUid(uid, key) ? uuids.set(key, value) : others.set(uid, value),
    delete: (uid: string): void => (readUid(uid, key) ? uuids.delete(key) : others.delete(uid)),
    size: () => uuids.size() + others.size(),
    beginList(): void {
      uuids.beginList();
      others.beginList();
    },
    /** Removes the entries that were not set since the list began, and passes their values to `onDropped`. */
    endList(onDropped: (value: number) => void): void {
      uuids.endList(onDropped);
      for (const uid of others.endList()) {
        const value = others.get(uid);
        others.delete(uid);
        if (value !== undefined) onDropped(value);
      }
    },
  };
}

const FIRST_SLOTS = 64;
/** Load factor above which the table grows. */
const FULL = 0.75;
const EMPTY = 0;

function uuidTable() {
  const entries = uidEntries();
  /** The entries, each plus one, in the slot that its hash points to or in the first behind it that was empty. */
  let slots = new Uint32Array(FIRST_SLOTS);
  let size = 0;

  const entryIn = (slot: number): number => (slots[slot] ?? EMPTY) - 1;
  const next = (slot: number): number => (slot + 1) & (slots.length - 1);
  const distance = (from: number, to: number): number => (to - from) & (slots.length - 1);
  const homeOf = (entry: number): number => entries.hash(entry) & (slots.length - 1);

  /** The slot of the uid, or the empty one where it would be. */
  function find(uid: Uint32Array): number {
    let slot = hashOf(uid, 0) & (slots.length - 1);
    while (slots[slot] !== EMPTY && !entries.is(entryIn(slot), uid)) slot = next(slot);
    return slot;
  }

  function put(entry: number): void {
    let slot = homeOf(entry);
    while (slots[slot] !== EMPTY) slot = next(slot);
    slots[slot] = entry + 1;
  }

  function grow(): void {
    slots = new Uint32Array(2 * slots.length);
    for (let entry = 0; entry < entries.end(); entry++) if (entries.state(entry) !== FREE) put(entry);
  }

  function remove(slot: number): void {
    entries.remove(entryIn(slot));
    size -= 1;
    empty(slot);
  }

  /** Moves displaced entries back, so that a search can stop at any empty slot. */
  function empty(emptied: number): void {
    let hole = emptied;
    for (let slot = next(hole); slots[slot] !== EMPTY; slot = next(slot)) {
      if (distance(homeOf(entryIn(slot)), slot) < distance(hole, slot)) continue;
      slots[hole] = slots[slot] ?? EMPTY;
      hole = slot;
    }
    slots[hole] = EMPTY;
  }

  function slotOf(entry: number): number {
    let slot = homeOf(entry);
    while (entryIn(slot) !== entry) slot = next(slot);
    return slot;
  }

  return {
    size: () => size,
    get(uid: Uint32Array): number | undefined {
      const entry = entryIn(find(uid));
      return entry < 0 ? undefined : entries.value(entry);
    },
    set(uid: Uint32Array, value: number): void {
      const entry = entryIn(find(uid));
      if (entry >= 0) {
        entries.setValue(entry, value);
        entries.setState(entry, KNOWN);
        return;
      }
      size += 1;
      if (size > FULL * slots.length) grow();
      put(entries.add(uid, value));
    },
    delete(uid: Uint32Array): void {
      const slot = find(uid);
      if (slots[slot] !== EMPTY) remove(slot);
    },
    beginList(): void {
      for (let entry = 0; entry < entries.end(); entry++) {
        if (entries.state(entry) === KNOWN) entries.setState(entry, UNSEEN);
      }
    },
    endList(onDropped: (value: number) => void): void {
      for (let entry = 0; entry < entries.end(); entry++) {
        if (entries.state(entry) !== UNSEEN) continue;
        const value = entries.value(entry);
        remove(slotOf(entry));
        onDropped(value);
      }
    },
  };
}
