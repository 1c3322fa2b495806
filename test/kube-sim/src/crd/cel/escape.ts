/** Names CEL keeps for itself: a field of such a name is written `__name__`. */
const RESERVED: ReadonlySet<string> = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);
const SIMPLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const ESCAPABLE = /^[A-Za-z_./-][A-Za-z0-9_./-]*$/;
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["__", "__underscores__"],
  [".", "__dot__"],
  ["-", "__dash__"],
  ["/", "__slash__"],
]);

/** The name of a field inside a rule; undefined: rules cannot name it. */
export function escapedName(name: string): string | undefined {
  if (RESERVED.has(name)) return `__${name}__`;
  if (SIMPLE.test(name) && !name.includes("__")) return name;
  if (!ESCAPABLE.test(name)) return undefined;
  return name.replaceAll(/__|[./-]/g, (found) => ESCAPES.get(found) ?? found);
}
