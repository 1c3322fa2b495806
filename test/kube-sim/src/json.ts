export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
/** Objects in the store are never changed in place: a write makes a new one. */
export interface JsonObject {
  readonly [name: string]: JsonValue | undefined;
}
