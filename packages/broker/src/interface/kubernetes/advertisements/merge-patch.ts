/**
 * The merge patch that turns the current value into the desired one; undefined if they are equal. Fields that are not
 * desired are removed, whoever wrote them.
 */
export function mergePatch(current: unknown, desired: object): object | undefined {
  if (!isFields(current)) return desired;
  const gone = Object.keys(current).filter((name) => !Object.hasOwn(desired, name));
  const changed = Object.entries(desired).flatMap(([name, value]) => {
    const part: unknown = isFields(value) ? mergePatch(current[name], value) : value;
    return part === undefined || part === current[name] ? [] : [[name, part] as const];
  });
  if (gone.length + changed.length === 0) return undefined;
  return Object.fromEntries([...changed, ...gone.map((name) => [name, null] as const)]);
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
