import type { Condition } from "@resource-broker/contract";

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
