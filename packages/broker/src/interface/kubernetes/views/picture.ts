import type { Condition, KubernetesObject, ObjectMeta } from "@resource-broker/contract";
import { canonical, type Fields, type Gap, gapBetween } from "./gap.ts";

/** An object of one of the two kinds that the ledger is shown as. */
export type Shown<Spec = object, Status extends ShownStatus = ShownStatus> = KubernetesObject<Spec, Status>;

interface ShownStatus {
  readonly conditions?: readonly Condition[];
  readonly lastUpdateTime?: string;
}

/** How an object should be, its status aside. */
export type Wanted<T extends Shown> = Omit<T, "metadata" | "status"> & {
  readonly metadata: Required<Pick<ObjectMeta, "name" | "namespace" | "labels">>;
};

/** The fields of a status that belong to others, and the conditions that belong to the views. */
export interface StatusShare {
  readonly othersFields: readonly string[];
  readonly ownConditions: readonly string[];
  /** `lastUpdateTime` only says when something else was written. */
  readonly isDated: boolean;
}

/** Labels and fields of the spec that belong together. */
export interface Layer<T extends Shown> {
  readonly fieldManager: string;
  readonly partOf: (wanted: Wanted<T>) => LayerPart;
}

export interface LayerPart {
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec: object;
}

/** True when something of this part is missing or different. Labels that others add are theirs. */
export function isBehind({ labels = {}, spec }: LayerPart, found: Shown): boolean {
  return gapBetween(labels, found.metadata.labels ?? {}).isBehind || gapBetween(spec, found.spec).isBehind;
}

/** The merge patch that takes away what a spec should not have: it belongs to the views alone. */
export function specSurplus<T extends Shown>(wanted: Wanted<T>, found: T): Fields | undefined {
  return gapBetween(wanted.spec, found.spec).surplus;
}

/** True when labels and spec are as they should be. */
export function isPainted<T extends Shown>(wanted: Wanted<T>, found: T): boolean {
  const { spec, metadata } = wanted;
  return !isBehind({ labels: metadata.labels, spec }, found) && specSurplus(wanted, found) === undefined;
}

export interface StatusGap extends Gap {
  /** Something of it has to be written. */
  readonly isOpen: boolean;
}

export function statusGap(wanted: ShownStatus, found: ShownStatus, share: StatusShare): StatusGap {
  const { lastUpdateTime = wanted.lastUpdateTime } = share.isDated ? found : wanted;
  const fields = gapBetween(
    withoutConditions({ ...wanted, ...(lastUpdateTime === undefined ? {} : { lastUpdateTime }) }),
    without(withoutConditions(found), share.othersFields),
  );
  const conditions = conditionsGap(wanted.conditions ?? [], found.conditions ?? [], share.ownConditions);
  const surplus = { ...fields.surplus, ...conditions.surplus };
  const isMissing = fields.isBehind || conditions.isBehind;
  const hasSurplus = Object.keys(surplus).length > 0;
  return {
    isBehind: isMissing,
    surplus: hasSurplus ? surplus : undefined,
    isOpen: isMissing || hasSurplus,
  };
}

function conditionsGap(
  wanted: readonly Condition[],
  found: readonly Condition[],
  own: readonly string[],
): Gap {
  const byType = new Map(found.map((condition) => [condition.type, condition]));
  const isMissing = wanted.some(
    (condition) => canonical(condition) !== canonical(byType.get(condition.type)),
  );
  const types = new Set(wanted.map(({ type }) => type));
  const kept = found.filter(({ type }) => types.has(type) || !own.includes(type));
  // A merge patch replaces the whole list; the required resourceVersion prevents lost updates.
  return { isBehind: isMissing, surplus: kept.length === found.length ? undefined : { conditions: kept } };
}

function withoutConditions(status: ShownStatus): Fields {
  return without({ ...status }, ["conditions"]);
}

function without(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}
