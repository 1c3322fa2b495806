import type { Condition } from "@resource-broker/contract";

/** A condition without its transition time, which is taken from the current status. */
export type Said = Pick<Condition, "type" | "status" | "reason" | "message">;

export interface ConditionMoment {
  /** RFC 3339. */
  readonly now: string;
  readonly observedGeneration: number | undefined;
}

/** Conditions of this writer only: each writer applies its own. The transition time changes only with the status. */
export function conditionsOf(
  said: readonly Said[],
  before: readonly Condition[] | undefined,
  { now, observedGeneration }: ConditionMoment,
): Condition[] {
  return said.map((each) => {
    const known = conditionIn(before, each.type);
    return {
      ...each,
      ...(observedGeneration === undefined ? {} : { observedGeneration }),
      lastTransitionTime: known?.status === each.status ? known.lastTransitionTime : now,
    };
  });
}

export function conditionIn<T extends Said>(
  conditions: readonly T[] | undefined,
  type: string,
): T | undefined {
  return conditions?.find((condition) => condition.type === type);
}

export function isTrue(conditions: readonly Said[] | undefined, type: string): boolean {
  return conditionIn(conditions, type)?.status === "True";
}
