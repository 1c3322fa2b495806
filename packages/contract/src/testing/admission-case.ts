import { changed, GOOD_OBJECTS, type JsonObject, type JsonValue } from "./good-objects.ts";

/** An object that is created, or written over `old`, and what an API server with our CRDs must say to it. */
export interface AdmissionCase {
  readonly name: string;
  readonly kind: string;
  readonly object: JsonObject;
  readonly old?: JsonObject;
  /** Absent: accepted. */
  readonly refusal?: Refusal;
}

export interface Refusal {
  /** The field the error names. */
  readonly field: string;
  /** How its message begins; empty where Kubernetes' own words may change. */
  readonly message: string;
  /** True when one of our CEL rules says it, and not the schema. */
  readonly isRule: boolean;
}

/** A rule's refusal of one field. */
export function byRule(field: string, message: string): Pick<AdmissionCase, "refusal"> {
  return { refusal: { field, message, isRule: true } };
}

/** Rows for one kind: its good object with one wrong value in it is refused on creation, by a rule. */
export function refusals(kind: string) {
  return (path: string, value: JsonValue, message: string): AdmissionCase => ({
    name: `${kind} refuses ${path} ${JSON.stringify(value)}`,
    kind,
    object: changed(goodObject(kind), path, value),
    ...byRule(path, message),
  });
}

/** The same for one field that changes afterwards: "<field> cannot be changed". `undefined` takes the field away. */
export function locks(kind: string) {
  return (path: string, value: JsonValue | undefined): AdmissionCase => ({
    name: `${kind} refuses a change of ${path} to ${value === undefined ? "nothing" : JSON.stringify(value)}`,
    kind,
    old: goodObject(kind),
    object: changed(goodObject(kind), path, value),
    ...byRule(path, `${path.split(".").at(-1)} cannot be changed`),
  });
}

export function goodObject(kind: string): JsonObject {
  const object = GOOD_OBJECTS[kind];
  if (object === undefined) throw new Error(`there is no good object of kind ${kind}`);
  return object;
}
