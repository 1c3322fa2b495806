import { describeTarget, type Target } from "./target.ts";

/** What somebody may not do. */
export interface MissingRight extends Pick<Target, "verb" | "object"> {
  readonly user: string;
}

const USER = /\bUser "([^"]+)" cannot /u;
const RESOURCE =
  /cannot (\S+) resource "([^"]+)"(?: in API group "([^"]*)")?(?: in the namespace "([^"]+)")?/u;
const PATH = /cannot (\S+) path "([^"]+)"/u;

/**
 * Reads Kubernetes' own words: they name the very right that was asked for, which need not be that of the call (an
 * apply that creates asks for both). Undefined: it is no missing right, but a rule of the cluster that says no.
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

/** Who may not do what, and the rule that would allow it, ready to be pasted. */
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
