import {
  FOREIGN_CLUSTERS,
  IDENTITIES,
  LIQO_LABEL,
  NAMESPACE_OFFLOADINGS,
  QUOTAS,
  RESOURCE_SLICES,
  SHADOW_PODS,
  TENANTS,
  tenantNamespaceOf,
  VIRTUAL_NODES,
} from "@resource-broker/agent/liqo";
import type { ObjectMeta } from "@resource-broker/base";
import { NAMESPACES, type ObjectName, type Resource } from "@resource-broker/kube";
import { remoteNamespaceOf } from "./offloading.ts";
import { WHOLE_NODES, WHOLE_PODS } from "./plain-kinds.ts";

/** What Liqo looks at again when something has changed, in the cluster that it is at home in. */
export type Task =
  | {
      readonly kind: "slice" | "virtual-node" | "offloading" | "pod" | "shadow-pod";
      readonly site: string;
      readonly name: Required<ObjectName>;
    }
  /** `foreign`: what it says of the other cluster; `credentials`: what it signs in there with, and whether it answers. */
  | { readonly kind: "foreign" | "credentials"; readonly site: string; readonly other: string };

export interface AnyObject {
  readonly metadata: ObjectMeta;
  readonly spec?: { readonly nodeName?: string };
}

type TasksOf = (siteId: string, object: AnyObject) => Task[];

const none: TasksOf = () => [];
const itself =
  (kind: Exclude<Task["kind"], "foreign" | "credentials">): TasksOf =>
  (site, { metadata }) => [{ kind, site, name: fullName(metadata) }];

/** The kinds that Liqo follows, and what a change of one of them is about. */
const FOLLOWERS = new Map<Resource<AnyObject>, TasksOf>([
  [RESOURCE_SLICES as Resource<AnyObject>, sliceTasks],
  [
    VIRTUAL_NODES as Resource<AnyObject>,
    (site, object) => [...itself("virtual-node")(site, object), ...foreignTasks(site, object)],
  ],
  [NAMESPACE_OFFLOADINGS as Resource<AnyObject>, itself("offloading")],
  [WHOLE_PODS, podTasks],
  [SHADOW_PODS as Resource<AnyObject>, shadowPodTasks],
  [WHOLE_NODES as Resource<AnyObject>, foreignTasks],
  [NAMESPACES, none],
  [IDENTITIES as Resource<AnyObject>, foreignTasks],
  [TENANTS as Resource<AnyObject>, foreignTasks],
  [QUOTAS as Resource<AnyObject>, none],
  [FOREIGN_CLUSTERS as Resource<AnyObject>, foreignTasks],
]);

export const FOLLOWED: readonly Resource<AnyObject>[] = [...FOLLOWERS.keys()];

export interface Change {
  readonly now: AnyObject | undefined;
  readonly before: AnyObject | undefined;
}

export function tasksOf(resource: Resource<AnyObject>, siteId: string, { now, before }: Change): Task[] {
  const object = now ?? before;
  if (object === undefined || isMissed(resource, { now, before })) return [];
  return FOLLOWERS.get(resource)?.(siteId, object) ?? [];
}

/**
 * Of what it says of a cluster, Liqo looks again for a new label, and not for a new status. That an Identity is gone it
 * hears while the Secret is still there, and never of the Secret: its end is told by `credentials`.
 */
function isMissed(resource: Resource<AnyObject>, { now, before }: Change): boolean {
  if (resource.plural === IDENTITIES.plural) return now === undefined;
  if (resource.plural !== FOREIGN_CLUSTERS.plural || now === undefined) return false;
  return (
    before !== undefined && JSON.stringify(now.metadata.labels) === JSON.stringify(before.metadata.labels)
  );
}

function foreignTasks(site: string, { metadata }: AnyObject): Task[] {
  const other = metadata.labels?.[LIQO_LABEL.remoteCluster];
  return other === undefined ? [] : [{ kind: "foreign", site, other }];
}

/** A replica is about the slice that it was copied from. */
function sliceTasks(site: string, { metadata }: AnyObject): Task[] {
  const origin = metadata.labels?.[LIQO_LABEL.origin];
  if (origin === undefined) return [{ kind: "slice", site, name: fullName(metadata) }];
  return [{ kind: "slice", site: origin, name: { name: metadata.name, namespace: tenantNamespaceOf(site) } }];
}

/** Pods of guests, and pods that are bound. */
function podTasks(site: string, { metadata, spec }: AnyObject): Task[] {
  const name = fullName(metadata);
  if (metadata.labels?.[LIQO_LABEL.managedBy] !== undefined) return [{ kind: "shadow-pod", site, name }];
  return spec?.nodeName === undefined ? [] : [{ kind: "pod", site, name }];
}

/** It makes a pod here, for one of its origin. */
function shadowPodTasks(site: string, { metadata }: AnyObject): Task[] {
  const origin = metadata.labels?.[LIQO_LABEL.podOrigin] ?? "";
  const { name, namespace } = fullName(metadata);
  const home = namespace.slice(0, -remoteNamespaceOf(origin, "").length);
  return [
    { kind: "shadow-pod", site, name: { name, namespace } },
    { kind: "pod", site: origin, name: { name, namespace: home } },
  ];
}

function fullName({ name, namespace = "" }: ObjectMeta): Required<ObjectName> {
  return { name, namespace };
}
