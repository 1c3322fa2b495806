/**
 * A map that supports a relist without a second copy. Between `beginList` and `endList` all entries stay valid;
 * entries that were not set during the list are reported at the end. An aborted list is started again.
 */
export function relistMap<Value>() {
  let current = new Map<string, Value>();
  /** Known before the list began and not seen in it yet. */
  let unseen = new Map<string, Value>();
  return {
    get: (key: string): Value | undefined => current.get(key) ?? unseen.get(key),
    set(key: string, value: Value): void {
      unseen.delete(key);
      current.set(key, value);
    },
    delete(key: string): void {
      unseen.delete(key);
      current.delete(key);
    },
    size: () => current.size + unseen.size,
    *values(): Iterable<Value> {
      yield* unseen.values();
      yield* current.values();
    },
    beginList(): void {
      for (const [key, value] of unseen) current.set(key, value);
      unseen = current;
      current = new Map();
    },
    /** Returns the keys that were not set since the list began; they are still there. */
    endList(): string[] {
      const dropped = [...unseen.keys()];
      for (const [key, value] of unseen) current.set(key, value);
      unseen = new Map();
      return dropped;
    },
  };
}
