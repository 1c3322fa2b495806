/** Which keys belong to a name. A key belongs to one name at most. */
export interface KeyIndex {
  /** Undefined: it belongs to none any more. */
  readonly put: (key: string, name: string | undefined) => void;
  readonly keysOf: (name: string) => readonly string[];
}

export function keyIndex(): KeyIndex {
  const names = new Map<string, string>();
  const keys = new Map<string, Set<string>>();

  const remove = (key: string): void => {
    const name = names.get(key);
    if (name === undefined) return;
    names.delete(key);
    const others = keys.get(name);
    others?.delete(key);
    if (others?.size === 0) keys.delete(name);
  };
  return {
    put: (key, name) => {
      if (names.get(key) === name) return;
      remove(key);
      if (name === undefined) return;
      names.set(key, name);
      keys.set(name, (keys.get(name) ?? new Set()).add(key));
    },
    keysOf: (name) => [...(keys.get(name) ?? [])],
  };
}
