import type { KubernetesObject, ObjectMeta } from "@resource-broker/base";
import type { Condition } from "@resource-broker/contract/crd";
import { canonical, type Diff, diffObjects, type Fields } from "../objects/diff.ts";

/** A Reservation or ClusterAdvertisement that shows a part of the ledger. */
export type ViewObject<Spec = object, Status extends ViewStatus = ViewStatus> = KubernetesObject<
  Spec,
  Status
>;

interface ViewStatus {
  readonly conditions?: readonly Condition[];
  readonly lastUpdateTime?: string;
}

/** The desired object, without its status. */
export type DesiredObject<T extends ViewObject> = Omit<T, "metadata" | "status"> & {
  readonly metadata: Required<Pick<ObjectMeta, "name" | "namespace" | "labels">>;
};

/** The fields of a status that belong to others, and the conditions that belong to the views. */
export interface StatusOwnership {
  readonly othersFields: readonly string[];
  readonly ownConditions: readonly string[];
  /** True: a different `lastUpdateTime` alone is no reason to write. */
  readonly ignoresUpdateTime: boolean;
}

/** Labels and fields of the spec that belong together. */
export interface Layer<T extends ViewObject> {
  readonly fieldManager: string;
  readonly partOf: (desired: DesiredObject<T>) => LayerPart;
}

export interface LayerPart {
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec: object;
}

/** True when a label or field of this part is missing or different. Labels that others add are ignored. */
export function differs({ labels = {}, spec }: LayerPart, found: ViewObject): boolean {
  return (
    diffObjects(labels, found.metadata.labels ?? {}).isOutdated || diffObjects(spec, found.spec).isOutdated
  );
}

/** The merge patch that removes fields that the desired spec does not have: the whole spec belongs to the broker. */
export function specRemovals<T extends ViewObject>(desired: DesiredObject<T>, found: T): Fields | undefined {
  return diffObjects(desired.spec, found.spec).removals;
}

/** True when labels and spec are as they should be. */
export function isUpToDate<T extends ViewObject>(desired: DesiredObject<T>, found: T): boolean {
  const { spec, metadata } = desired;
  return !differs({ labels: metadata.labels, spec }, found) && specRemovals(desired, found) === undefined;
}

export interface StatusDiff extends Diff {
  /** True: the status has to be written. */
  readonly isDifferent: boolean;
}

export function statusDiff(desired: ViewStatus, found: ViewStatus, ownership: StatusOwnership): StatusDiff {
  const { lastUpdateTime = desired.lastUpdateTime } = ownership.ignoresUpdateTime ? found : desired;
  const fields = diffObjects(
    withoutConditions({ ...desired, ...(lastUpdateTime === undefined ? {} : { lastUpdateTime }) }),
    without(withoutConditions(found), ownership.othersFields),
  );
  const conditions = conditionsDiff(
    desired.conditions ?? [],
    found.conditions ?? [],
    ownership.ownConditions,
  );
  const removals = { ...fields.removals, ...conditions.removals };
  const isMissing = fields.isOutdated || conditions.isOutdated;
  const hasSurplus = Object.keys(removals).length > 0;
  return {
    isOutdated: isMissing,
    removals: hasSurplus ? removals : undefined,
    isDifferent: isMissing || hasSurplus,
  };
}

function conditionsDiff(
  desired: readonly Condition[],
  found: readonly Condition[],
  own: readonly string[],
): Diff {
  const byType = new Map(found.map((condition) => [condition.type, condition]));
  const isMissing = desired.some(
    (condition) => canonical(condition) !== canonical(byType.get(condition.type)),
  );
  const types = new Set(desired.map(({ type }) => type));
  const kept = found.filter(({ type }) => types.has(type) || !own.includes(type));
  // A merge patch replaces the whole list; the required resourceVersion prevents lost updates.
  return { isOutdated: isMissing, removals: kept.length === found.length ? undefined : { conditions: kept } };
}

function withoutConditions(status: ViewStatus): Fields {
  return without({ ...status }, ["conditions"]);
}

function without(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}
