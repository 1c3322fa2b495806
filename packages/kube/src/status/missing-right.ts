import { describeTarget, type Target } from "./target.ts";

/** A missing permission. */
export interface MissingRight extends Pick<Target, "verb" | "object"> {
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
export function missingRight(said: string, target: Target): MissingRight | undefined {
  const user = USER.exec(said)?.[1];
  if (user === undefined) return undefined;
  return { user, ...(resourceRight(said) ?? pathRight(said) ?? target) };
}

type Right = Pick<Target, "verb" | "object">;

function resourceRight(said: string): Right | undefined {
  const [, verb, resource, group = "", namespace] = RESOURCE.exec(said) ?? [];
  if (verb === undefined || resource === undefined) return undefined;
  return { verb, object: { group, resource, ...(namespace === undefined ? {} : { namespace }) } };
}

function pathRight(said: string): Right | undefined {
  const [, verb, path] = PATH.exec(said) ?? [];
  return verb === undefined || path === undefined ? undefined : { verb, object: { path } };
}

/** The missing permission, with the RBAC rule that would grant it. */
export function describeMissingRight(right: MissingRight): string {
  const { user, verb, object } = right;
  const problem = `user ${user} may not ${describeTarget(right)}`;
  if ("path" in object) {
    return `${problem}: add to a ClusterRole of theirs {nonResourceURLs: ["${object.path}"], verbs: ["${verb}"]}`;
  }
  const { group, resource, namespace } = object;
  const role =
    namespace === undefined ? "a ClusterRole" : `a ClusterRole, or a Role in namespace ${namespace},`;
  const rule = `{apiGroups: ["${group}"], resources: ["${resource}"], verbs: ["${verb}"]}`;
  return `${problem}: add to ${role} of theirs ${rule}`;
}
