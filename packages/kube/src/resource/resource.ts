import type { MessageFields } from "../protobuf/fields.ts";

/** A kind of object that an API server serves, and the type of such an object here. */
export interface Resource<T> {
  /** "" for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly isNamespaced: boolean;
  /** True: posted like an object, answered at once and never stored; it has no name. */
  readonly isQuestion?: boolean;
  /** Lists and watches travel as Kubernetes protobuf, of which only these fields are read. Absent: JSON. */
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
