import type { Condition } from "@resource-broker/contract";

interface Status {
  readonly conditions?: readonly Condition[];
  readonly lastUpdateTime?: string;
}

export interface Ownership {
  /** Fields that the broker writes. A field that should be absent but exists is also a difference. */
  readonly fields: readonly string[];
  readonly conditions: readonly string[];
}

/** True if an apply would change nothing but the update time. */
export function isSameStatus(desired: Status, current: Status | undefined, owned: Ownership): boolean {
  if (current === undefined) return false;
  return canonical(ownPart(desired, owned)) === canonical(ownPart(current, owned));
}

function ownPart(status: Status, owned: Ownership): object {
  const fields = Object.entries(status).filter(([name]) => owned.fields.includes(name));
  const conditions = (status.conditions ?? [])
    .filter(({ type }) => owned.conditions.includes(type))
    .map((condition) => ({ ...condition, lastTransitionTime: undefined }))
    .toSorted((a, b) => (a.type < b.type ? -1 : 1));
  return { ...Object.fromEntries(fields), conditions };
}

/** Servers order fields as they like. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
