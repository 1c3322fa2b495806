import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";

const FOLDER = join(import.meta.dirname, "../../../../../deploy/rbac");

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

export interface RbacObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

export interface Role extends RbacObject {
  readonly kind: "ClusterRole" | "Role";
  readonly rules: readonly Rule[];
}

/** One verb on one resource: the smallest thing that can be missing. */
export interface Right {
  readonly role: Role;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly objectName: string | undefined;
}

/** For agents that drive Liqo, whose rights its own end-to-end tests need. */
const LIQO = ["agent-liqo.yaml", "agent-relay.yaml"];

/** Everything in deploy/rbac that is for agents in their own clusters. */
export async function shippedObjects(): Promise<RbacObject[]> {
  const files = (await readdir(FOLDER))
    .filter((file) => file.startsWith("agent") && !LIQO.includes(file))
    .sort();
  return (await Promise.all(files.map(objectsIn))).flat();
}

/** Everything in one file of deploy/rbac. */
export async function objectsIn(file: string): Promise<RbacObject[]> {
  const text = await readFile(join(FOLDER, file), "utf8");
  return parseAllDocuments(text).map((document) => document.toJS() as RbacObject);
}

export function rightsIn(objects: readonly RbacObject[]): Right[] {
  return objects.filter(isRole).flatMap((role) => role.rules.flatMap((rule) => rightsOf(role, rule)));
}

/** The role that gives everything but this. */
export function roleWithout({ role, verb, group, resource }: Right): Role {
  const rights = rightsIn([role]).filter(
    (right) => right.verb !== verb || right.group !== group || right.resource !== resource,
  );
  return roleWith(role, rights);
}

/** The role that gives these alone. */
export function roleWith(role: Role, rights: readonly Right[]): Role {
  const rules = rights.map(({ group, resource, verb, objectName }) => ({
    apiGroups: [group],
    resources: [resource],
    verbs: [verb],
    ...(objectName === undefined ? {} : { resourceNames: [objectName] }),
  }));
  return { ...role, rules };
}

function isRole(object: RbacObject): object is Role {
  return object.kind === "ClusterRole" || object.kind === "Role";
}

function rightsOf(role: Role, { apiGroups, resources, resourceNames = [], verbs }: Rule): Right[] {
  const names = resourceNames.length === 0 ? [undefined] : resourceNames;
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      names.flatMap((objectName) => verbs.map((verb) => ({ role, verb, group, resource, objectName }))),
    ),
  );
}
