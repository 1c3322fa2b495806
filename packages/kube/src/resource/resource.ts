import type { MessageFields } from "../protobuf/fields.ts";

/** A resource of an API server, and the type of its objects. */
export interface Resource<T> {
  /** "" for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly isNamespaced: boolean;
  /** True: a create-only review that is answered and never stored; it has no name. */
  readonly isQuestion?: boolean;
  /** Lists and watches use protobuf, and only these fields are decoded. Absent: JSON. */
  readonly protobuf?: MessageFields;
  /** Never set: it carries the type. */
  readonly example?: T;
}

/** A part of an object with a path of its own. `token`, of a service account, is created only. */
export type Subresource = "status" | "token";

/** Names one object; `namespace` belongs to namespaced kinds only. */
export interface ObjectName {
  readonly name: string;
  readonly namespace?: string;
}
