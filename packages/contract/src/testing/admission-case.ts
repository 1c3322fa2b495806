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

/** One field of a good object. */
export interface Place {
  readonly kind: string;
  readonly path: string;
}

/** A good object with one wrong value in it is refused on creation, by a rule. */
export function refusesValue({ kind, path }: Place, value: JsonValue, message: string): AdmissionCase {
  const object = changed(goodObject(kind), path, value);
  const name = `${kind} refuses ${path} ${JSON.stringify(value)}`;
  return { name, kind, object, refusal: { field: path, message, isRule: true } };
}

/** A good object is refused when one field changes afterwards, by a rule. `undefined` takes the field away. */
export function refusesChange(
  { kind, path }: Place,
  value: JsonValue | undefined,
  message: string,
): AdmissionCase {
  const old = goodObject(kind);
  const name = `${kind} refuses a change of ${path} to ${value === undefined ? "nothing" : JSON.stringify(value)}`;
  return {
    name,
    kind,
    old,
    object: changed(old, path, value),
    refusal: { field: path, message, isRule: true },
  };
}

export function goodObject(kind: string): JsonObject {
  const object = GOOD_OBJECTS[kind];
  if (object === undefined) throw new Error(`there is no good object of kind ${kind}`);
  return object;
}
