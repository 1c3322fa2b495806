/** A field of what a server answered, whatever that is. */
export function fieldOf(value: unknown, ...path: readonly string[]): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return fieldOf(new Map(Object.entries(value)).get(name), ...rest);
}
