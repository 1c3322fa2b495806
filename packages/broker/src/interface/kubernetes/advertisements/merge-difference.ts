/**
 * The merge patch that turns the current value into the desired one; undefined if they are equal. Fields that are not
 * desired are removed, whoever wrote them.
 */
export function mergeDifference(there: unknown, wanted: object): object | undefined {
  if (!isFields(there)) return wanted;
  const gone = Object.keys(there).filter((name) => !Object.hasOwn(wanted, name));
  const changed = Object.entries(wanted).flatMap(([name, value]) => {
    const part: unknown = isFields(value) ? mergeDifference(there[name], value) : value;
    return part === undefined || part === there[name] ? [] : [[name, part] as const];
  });
  if (gone.length + changed.length === 0) return undefined;
  return Object.fromEntries([...changed, ...gone.map((name) => [name, null] as const)]);
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
