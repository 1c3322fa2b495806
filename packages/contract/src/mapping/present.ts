/** The same fields, optional where a value may be undefined. */
type Present<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Removes fields that are undefined (exactOptionalPropertyTypes). */
export function present<T extends object>(fields: T): Present<T> {
  const kept: Record<string, unknown> = {};
  for (const name in fields) {
    if (fields[name] !== undefined) kept[name] = fields[name];
  }
  // The loop above does exactly what the type says.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the loop above does what the type says
  return kept as Present<T>;
}

/** The same names with other values. */
export function mapValues<From, To>(
  record: Readonly<Record<string, From>>,
  map: (value: From, name: string) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]));
}
