import type { Condition } from "@resource-broker/contract";

/** What the broker says of an object; when it changed is found out from what is there. */
export type Said = Pick<Condition, "type" | "status" | "reason" | "message">;

export interface ConditionMoment {
  /** RFC 3339. */
  readonly now: string;
  readonly observedGeneration: number | undefined;
}

/** Only what is said here, nothing of others: each writer applies its own. Times change with the status alone. */
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
