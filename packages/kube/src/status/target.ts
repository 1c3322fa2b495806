/** The target of a call, for messages. */
export interface Target {
  /** Where the API server is, and how we came to call it so. */
  readonly server: string;
  readonly origin: string;
  /** As in a Role: get, list, watch, create, update, patch, delete. */
  readonly verb: string;
  readonly object: TargetObject | TargetPath;
}

export interface TargetObject {
  readonly group: string;
  /** With its subresource, as in a Role: `pods/status`. */
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** A path that is no resource, such as /version. */
export interface TargetPath {
  readonly path: string;
}

/** `update reservations/status rsv-1 (broker.fluidos.eu) in namespace default`. */
export function describeTarget({ verb, object }: Pick<Target, "verb" | "object">): string {
  if ("path" in object) return `${verb} ${object.path}`;
  const { group, resource, namespace, name } = object;
  const what = name === undefined ? resource : `${resource} ${name}`;
  const where = namespace === undefined ? "" : ` in namespace ${namespace}`;
  return `${verb} ${what} (${group === "" ? "core group" : group})${where}`;
}
