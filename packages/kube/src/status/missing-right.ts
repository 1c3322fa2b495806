import { describeTarget, type Target } from "./target.ts";

/** A missing permission. */
export interface MissingPermission extends Pick<Target, "verb" | "object"> {
  readonly user: string;
}

const USER = /\bUser "([^"]+)" cannot /u;
const RESOURCE =
  /cannot (\S+) resource "([^"]+)"(?: in API group "([^"]*)")?(?: in the namespace "([^"]+)")?/u;
const PATH = /cannot (\S+) path "([^"]+)"/u;

/**
 * Parses the message of the API server: it names the missing permission, which may differ from that of the call (an apply that
 * creates needs both). Undefined: not a missing permission, but an admission rule.
 */
export function missingPermission(message: string, target: Target): MissingPermission | undefined {
  const user = USER.exec(message)?.[1];
  if (user === undefined) return undefined;
  return { user, ...(resourcePermission(message) ?? pathPermission(message) ?? target) };
}

type Permission = Pick<Target, "verb" | "object">;

function resourcePermission(message: string): Permission | undefined {
  const [, verb, resource, group = "", namespace] = RESOURCE.exec(message) ?? [];
  if (verb === undefined || resource === undefined) return undefined;
  return { verb, object: { group, resource, ...(namespace === undefined ? {} : { namespace }) } };
}

function pathPermission(message: string): Permission | undefined {
  const [, verb, path] = PATH.exec(message) ?? [];
  return verb === undefined || path === undefined ? undefined : { verb, object: { path } };
}

/** The missing permission, with the RBAC rule that would grant it. */
export function describeMissingPermission(permission: MissingPermission): string {
  const { user, verb, object } = permission;
  const problem = `user ${user} may not ${describeTarget(permission)}`;
  if ("path" in object) {
    return `${problem}: add to a ClusterRole of theirs {nonResourceURLs: ["${object.path}"], verbs: ["${verb}"]}`;
  }
  const { group, resource, namespace } = object;
  const role =
    namespace === undefined ? "a ClusterRole" : `a ClusterRole, or a Role in namespace ${namespace},`;
  const rule = `{apiGroups: ["${group}"], resources: ["${resource}"], verbs: ["${verb}"]}`;
  return `${problem}: add to ${role} of theirs ${rule}`;
}
