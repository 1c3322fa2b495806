/**
 * Which fields of a protobuf message are read, by their numbers, and what they are called in JSON. A decoder walks
 * only these and skips the rest, so an object costs what is asked of it and not what it weighs.
 */
export type MessageFields = Readonly<Record<number, Field>>;

export interface Field {
  readonly name: string;
  readonly kind: FieldKind;
  /** True: it may come several times and makes an array. */
  readonly isRepeated?: boolean;
  /**
   * Kubernetes writes an unset text, number or flag as "", 0 or false. JSON leaves most of them out, and so does the
   * decoder; true: JSON keeps this one.
   */
  readonly isKeptWhenZero?: boolean;
  /**
   * Of a map, or of messages that repeat: only those are read whose first text, the key of a map or the type of a
   * condition, is one of these. Kubernetes writes it first; what has something else in front is read like the rest.
   */
  readonly only?: readonly string[];
  /** True: hardly two objects have the same text, so there is no use in remembering it. */
  readonly isUnique?: boolean;
}

export type FieldKind =
  | "string"
  | "int"
  | "bool"
  /** `map<string, string>`. */
  | "string-map"
  /** `map<string, Quantity>`: Kubernetes' quantities as their text. */
  | "quantity-map"
  /** A Time, as RFC 3339 text. */
  | "time"
  | { readonly message: MessageFields };
