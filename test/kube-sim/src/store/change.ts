import type { JsonObject } from "../json.ts";

/** Something happened to one object. Watchers share it: nothing in it is ever changed. */
export interface Change {
  readonly version: number;
  /** `pods`, `leases.coordination.k8s.io`: where objects of all versions of a kind lie. */
  readonly resource: string;
  /** `namespace/name`, or `name` for kinds without namespaces. */
  readonly key: string;
  /** Absent: it was created. */
  readonly before?: JsonObject;
  /** Absent: it was deleted. */
  readonly after?: JsonObject;
  /** The last state of a deleted object, with the version of the deletion. */
  readonly last?: JsonObject;
}
