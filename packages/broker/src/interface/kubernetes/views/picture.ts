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

/** What of a status is the views' to write: all but this. */
export interface StatusShare {
  readonly othersFields: readonly string[];
  readonly ownConditions: readonly string[];
  /** `lastUpdateTime` only says when something else was written. */
  readonly isDated: boolean;
}

export interface SpecGap extends Gap {
  /** Something of it, labels included, has to be written. */
  readonly isOpen: boolean;
}

/** Labels that others add are theirs; a spec belongs to the views alone. */
export function specGap<T extends Shown>(wanted: Wanted<T>, found: T): SpecGap {
  const spec = gapBetween(wanted.spec, found.spec);
  const isLabelled = !gapBetween(wanted.metadata.labels, found.metadata.labels ?? {}).isBehind;
  const isBehind = spec.isBehind || !isLabelled;
  return { isBehind, surplus: spec.surplus, isOpen: isBehind || spec.surplus !== undefined };
}

export function statusGap(wanted: ShownStatus, found: ShownStatus, share: StatusShare): SpecGap {
  const { lastUpdateTime = wanted.lastUpdateTime } = share.isDated ? found : wanted;
  const fields = gapBetween(
    withoutConditions({ ...wanted, ...(lastUpdateTime === undefined ? {} : { lastUpdateTime }) }),
    without(withoutConditions(found), share.othersFields),
  );
  const conditions = conditionsGap(wanted.conditions ?? [], found.conditions ?? [], share.ownConditions);
  const surplus = { ...fields.surplus, ...conditions.surplus };
  const isBehind = fields.isBehind || conditions.isBehind;
  const hasSurplus = Object.keys(surplus).length > 0;
  return { isBehind, surplus: hasSurplus ? surplus : undefined, isOpen: isBehind || hasSurplus };
}

function conditionsGap(
  wanted: readonly Condition[],
  found: readonly Condition[],
  own: readonly string[],
): Gap {
  const byType = new Map(found.map((condition) => [condition.type, condition]));
  const isBehind = wanted.some((condition) => canonical(condition) !== canonical(byType.get(condition.type)));
  const types = new Set(wanted.map(({ type }) => type));
  const kept = found.filter(({ type }) => types.has(type) || !own.includes(type));
  // A list can be patched only as a whole; that nobody changes it meanwhile is seen to by the object's version.
  return { isBehind, surplus: kept.length === found.length ? undefined : { conditions: kept } };
}

function withoutConditions(status: ShownStatus): Fields {
  return without({ ...status }, ["conditions"]);
}

function without(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}
