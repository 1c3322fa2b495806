/** How the fields of one message are written, in the order of their numbers. */
export type MessageTable = readonly TableField[];

export interface TableField {
  readonly number: number;
  /** In JSON. */
  readonly name: string;
  readonly kind: TableKind;
  /** The message of a field of that kind. */
  readonly message?: string;
  readonly isRepeated?: boolean;
  /** Go writes it also where nothing is set. */
  readonly isAlways?: boolean;
  /** JSON has the fields of this message beside those of the one that holds it. */
  readonly isInline?: boolean;
}

export type TableKind =
  | "string"
  | "bool"
  | "int"
  | "quantity"
  | "time"
  | "micro-time"
  | "int-or-string"
  /** The owned fields of a field manager: JSON within protobuf. */
  | "fields"
  | "string-map"
  | "quantity-map"
  | "bytes-map"
  | "message";
