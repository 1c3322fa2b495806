/**
 * The merge patch that makes `wanted` of `there`; undefined where nothing differs. What is there and not wanted is
 * taken away, whoever wrote it.
 */
export function mergeDifference(there: unknown, wanted: object): object | undefined {
  const known: Readonly<Record<string, unknown>> = isFields(there) ? there : {};
  const gone = Object.keys(known).filter((name) => !Object.hasOwn(wanted, name));
  const changed = Object.entries(wanted).flatMap(([name, value]) => {
    const part: unknown = isFields(value) ? mergeDifference(known[name], value) : value;
    return part === undefined || part === known[name] ? [] : [[name, part] as const];
  });
  if (gone.length + changed.length === 0) return undefined;
  return Object.fromEntries([...changed, ...gone.map((name) => [name, null] as const)]);
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
