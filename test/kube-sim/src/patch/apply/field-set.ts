import type { JsonObject } from "../../json.ts";
import { isObject } from "../../json-access.ts";

/** A set of fields as a tree. Steps are written as in FieldsV1: `f:name`, `k:{"name":"a"}`, `v:"x"`. */
export interface FieldSet {
  /** True: the place itself belongs to the set, not only something below it. */
  readonly isMember: boolean;
  readonly children: ReadonlyMap<string, FieldSet>;
}

export const NO_FIELDS: FieldSet = { isMember: false, children: new Map() };
export const MEMBER: FieldSet = { isMember: true, children: new Map() };

export function isEmpty({ isMember, children }: FieldSet): boolean {
  return !isMember && children.size === 0;
}

/** Leaves out children that hold nothing. */
export function fieldSet(isMember: boolean, children: Iterable<readonly [string, FieldSet]>): FieldSet {
  return { isMember, children: new Map([...children].filter(([, child]) => !isEmpty(child))) };
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  return combine(a, b, (inA, inB) => inA || inB);
}

export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return combine(a, b, (inA, inB) => inA && !inB);
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return combine(a, b, (inA, inB) => inA && inB);
}

function combine(a: FieldSet, b: FieldSet, keeps: (inA: boolean, inB: boolean) => boolean): FieldSet {
  const steps = new Set([...a.children.keys(), ...b.children.keys()]);
  const children = [...steps].map((step) => {
    const child = combine(a.children.get(step) ?? NO_FIELDS, b.children.get(step) ?? NO_FIELDS, keeps);
    return [step, child] as const;
  });
  return fieldSet(keeps(a.isMember, b.isMember), children);
}

export function isEqual(a: FieldSet, b: FieldSet): boolean {
  return isEmpty(difference(a, b)) && isEmpty(difference(b, a));
}

/** Every member below, each as the steps to it: at every place first what ends there. */
export function pathsOf({ children }: FieldSet): readonly (readonly string[])[] {
  const sorted = [...children].toSorted(byStep);
  const here = sorted.filter(([, { isMember }]) => isMember).map(([step]) => [step]);
  const below = sorted.flatMap(([step, child]) => pathsOf(child).map((path) => [step, ...path]));
  return [...here, ...below];
}

function byStep([a]: readonly [string, FieldSet], [b]: readonly [string, FieldSet]): number {
  return a < b ? -1 : 1;
}

/** `.spec.containers[name="a"].image`. */
export function pathText(path: readonly string[]): string {
  return path.map(stepText).join("");
}

function stepText(step: string): string {
  const rest = step.slice(2);
  if (step.startsWith("f:")) return `.${rest}`;
  if (step.startsWith("v:")) return `[=${rest}]`;
  const keys: unknown = JSON.parse(rest);
  const named = Object.entries(typeof keys === "object" && keys !== null ? keys : {});
  return `[${named.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(",")}]`;
}

/** As `fieldsV1`: an empty object is a member, a dot marks a place that is one beside what lies below it. */
export function toFieldsV1({ isMember, children }: FieldSet): JsonObject {
  const below = [...children].toSorted(byStep);
  return {
    ...(isMember && below.length > 0 ? { ".": {} } : {}),
    ...Object.fromEntries(below.map(([step, child]) => [step, toFieldsV1(child)])),
  };
}

export function fromFieldsV1(fields: JsonObject): FieldSet {
  const root = readFields(fields);
  return { ...root, isMember: false };
}

function readFields(fields: JsonObject): FieldSet {
  const children = Object.entries(fields).flatMap(([step, child]) =>
    step !== "." && isObject(child) ? [[step, readFields(child)] as const] : [],
  );
  return { isMember: children.length === 0 || fields["."] !== undefined, children: new Map(children) };
}
