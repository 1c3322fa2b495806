/**
 * A map that can be listed anew without a second copy: between `beginList` and `endList` everything stays in force,
 * and what was not set meanwhile is dropped at the end. A list that breaks off is simply begun again.
 */
export interface ListedMap<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  delete(key: string): void;
  size(): number;
  values(): Iterable<Value>;
  beginList(): void;
  /** Returns the keys that were not set since the list began; they are still there. */
  endList(): string[];
}

export function listedMap<Value>(): ListedMap<Value> {
  let current = new Map<string, Value>();
  /** Known before the list began and not seen in it yet. */
  let unseen = new Map<string, Value>();
  return {
    get: (key) => current.get(key) ?? unseen.get(key),
    set(key, value) {
      unseen.delete(key);
      current.set(key, value);
    },
    delete(key) {
      unseen.delete(key);
      current.delete(key);
    },
    size: () => current.size + unseen.size,
    *values() {
      yield* unseen.values();
      yield* current.values();
    },
    beginList() {
      for (const [key, value] of unseen) current.set(key, value);
      unseen = current;
      current = new Map();
    },
    endList() {
      const dropped = [...unseen.keys()];
      for (const [key, value] of unseen) current.set(key, value);
      unseen = new Map();
      return dropped;
    },
  };
}
