import type { Condition } from "@resource-broker/contract/crd";
import { canonical } from "../objects/diff.ts";

/** A condition without its transition time, which is taken from the current status. */
export type DesiredCondition = Pick<Condition, "type" | "status" | "reason" | "message">;

export interface ConditionContext {
  /** RFC 3339. */
  readonly now: string;
  readonly observedGeneration: number | undefined;
}

/** Conditions of this writer only: each writer applies its own. The transition time changes only with the status. */
export function conditionsOf(
  desired: readonly DesiredCondition[],
  before: readonly Condition[] | undefined,
  { now, observedGeneration }: ConditionContext,
): Condition[] {
  return desired.map((each) => {
    const known = conditionIn(before, each.type);
    return {
      ...each,
      ...(observedGeneration === undefined ? {} : { observedGeneration }),
      lastTransitionTime: known?.status === each.status ? known.lastTransitionTime : now,
    };
  });
}

export function conditionIn<T extends DesiredCondition>(
  conditions: readonly T[] | undefined,
  type: string,
): T | undefined {
  return conditions?.find((condition) => condition.type === type);
}

export function isTrue(conditions: readonly DesiredCondition[] | undefined, type: string): boolean {
  return conditionIn(conditions, type)?.status === "True";
}

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
