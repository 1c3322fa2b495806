import type { Offload } from "../../data-plane/data-plane.ts";
import { MANAGED_BY_LABEL, MANAGER } from "../../manifests/labels.ts";
import {
  LIQO_LABEL,
  NAMESPACE_OFFLOADING_NAME,
  NAMESPACE_OFFLOADINGS,
  type NamespaceOffloading,
} from "../objects.ts";
import { create, update } from "../writes.ts";
import type { DesiredVirtualNode } from "./desired-virtual-node.ts";
import { act, type Step, stalled, wait } from "./steps.ts";

/** Whether the namespace exists, and its NamespaceOffloading, if any. */
export interface ObservedOffload {
  readonly namespace: string;
  readonly isThere: boolean;
  readonly offloading: NamespaceOffloading | undefined;
}

/** The next step for the namespaces; undefined: they are ready. */
export interface OffloadStep extends Step {
  /** Since when the remote namespace has not existed. */
  readonly since?: string | undefined;
}

/** Reservations that need the offloading, each with the provider's Liqo ID. Pods of one namespace may use several reservations. */
const CLAIM = "offload.rear.fluidos.eu/";
/** Reservations that are ending: their provider gets no new pods. */
const ENDING = "offload-ending.rear.fluidos.eu/";
const DEFAULT_STRATEGY = "LocalAndRemote";

/** The next step so that pods of the requested namespaces may run at the provider; undefined: they may. */
export function planOffload(
  desired: DesiredVirtualNode,
  observed: readonly ObservedOffload[],
): OffloadStep | undefined {
  const { offload } = desired;
  if (offload === undefined) return undefined;
  const steps = observed.flatMap((found) => planNamespace(desired, offload, found) ?? []);
  // One blocked namespace must not keep the others from being written.
  return steps.find(({ kind }) => kind === "act") ?? steps.find(({ isStalled }) => isStalled) ?? steps[0];
}

function planNamespace(
  desired: DesiredVirtualNode,
  { podOffloadingStrategy: strategy = DEFAULT_STRATEGY }: Offload,
  { namespace, isThere, offloading }: ObservedOffload,
): OffloadStep | undefined {
  const { id, liqoId, clusterId } = desired;
  const isWritten = `namespace ${namespace} may use ${clusterId}`;
  if (!isThere) return stalled("NamespaceMissing", `namespace ${namespace} does not exist: create it`);
  if (offloading === undefined) {
    const made = offloadingManifest(namespace, { claims: { [id]: liqoId }, strategy });
    return act("Offloading", isWritten, create(NAMESPACE_OFFLOADINGS, made));
  }
  const where = `NamespaceOffloading ${namespace}/${NAMESPACE_OFFLOADING_NAME}`;
  if (!isOurs(offloading)) {
    const remedy = "remove the namespace from spec.offload, or delete that object";
    return stalled("OffloadingConflict", `${where} was made by someone else and is not changed: ${remedy}`);
  }
  if (offloading.metadata.deletionTimestamp !== undefined) {
    return stalled("OffloadingTerminating", `${where} is being deleted; a new one is created afterwards`);
  }
  const claims = claimsOf(offloading, CLAIM);
  const isWanted = Object.keys(claims).length > 0;
  if (isWanted && offloading.spec.podOffloadingStrategy !== strategy) {
    const has = `has podOffloadingStrategy ${offloading.spec.podOffloadingStrategy} for other reservations`;
    return stalled("OffloadingConflict", `${where} ${has}: ask for the same, or use another namespace`);
  }
  if (claims[id] === liqoId) return planMapping(desired, offloading);
  const { [id]: _, ...ending } = claimsOf(offloading, ENDING);
  const changes = { claims: { ...claims, [id]: liqoId }, ending, strategy, before: offloading };
  return act("Offloading", isWritten, update(NAMESPACE_OFFLOADINGS, offloadingManifest(namespace, changes)));
}

/**
 * The object that keeps new pods away from a provider while its last reservation for the namespace ends. Liqo
 * selects clusters, not nodes: drained pods would be scheduled on another reservation's node and fail there
 * without their namespace. The remote namespace stays until another provider is selected, so that its pods can
 * end. Undefined: nothing to do.
 */
export function closedFor(offloading: NamespaceOffloading, id: string): NamespaceOffloading | undefined {
  const { [id]: liqoId, ...claims } = claimsOf(offloading, CLAIM);
  if (liqoId === undefined || Object.values(claims).includes(liqoId)) return undefined;
  const ending = { ...claimsOf(offloading, ENDING), [id]: liqoId };
  return changed(offloading, claims, ending);
}

/** The provider at which the namespace's pods end with this reservation; undefined: none. */
export function closedProvider(offloading: NamespaceOffloading, id: string): string | undefined {
  const { [id]: liqoId } = claimsOf(offloading, ENDING);
  const isChosen = liqoId !== undefined && Object.values(claimsOf(offloading, CLAIM)).includes(liqoId);
  return isChosen ? undefined : liqoId;
}

/** Pods that start before the remote namespace exists are in back-off at the provider. */
function planMapping(
  { clusterId, liqoId }: DesiredVirtualNode,
  offloading: NamespaceOffloading,
): OffloadStep | undefined {
  const { metadata, spec, status } = offloading;
  const ready = status?.remoteNamespacesConditions?.[liqoId]?.find(({ type }) => type === "Ready");
  const isReady = ready === undefined ? status?.offloadingPhase === "Ready" : ready.status === "True";
  if (spec.podOffloadingStrategy === "Local" || (isReady && isObserved(offloading))) return undefined;
  const step = wait(
    "AwaitingOffloading",
    `namespace ${metadata.namespace} does not exist yet at ${clusterId}`,
  );
  return { ...step, since: ready?.lastTransitionTime };
}

function isObserved({ metadata, status }: NamespaceOffloading): boolean {
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 1);
}

/** The object without the claim of this reservation; undefined: no other reservation needs it. */
export function withoutClaim(offloading: NamespaceOffloading, id: string): NamespaceOffloading | undefined {
  const { [id]: _, ...claims } = claimsOf(offloading, CLAIM);
  const { [id]: __, ...ending } = claimsOf(offloading, ENDING);
  if (Object.keys({ ...claims, ...ending }).length === 0) return undefined;
  return changed(offloading, claims, ending);
}

function changed(before: NamespaceOffloading, claims: Claims, ending: Claims): NamespaceOffloading {
  const { podOffloadingStrategy = DEFAULT_STRATEGY } = before.spec;
  const strategy = Object.keys(claims).length === 0 ? "Local" : podOffloadingStrategy;
  return offloadingManifest(before.metadata.namespace ?? "", { claims, ending, strategy, before });
}

/** The reservations that claim it; none for an object that a person made. */
export function claimantsOf(offloading: NamespaceOffloading): string[] {
  if (!isOurs(offloading)) return [];
  return Object.keys({ ...claimsOf(offloading, CLAIM), ...claimsOf(offloading, ENDING) }).sort();
}

/** Liqo's ID of the provider, by reservation. */
type Claims = Readonly<Record<string, string>>;

interface DesiredOffloading {
  readonly claims: Claims;
  readonly ending?: Claims;
  readonly strategy: NonNullable<NamespaceOffloading["spec"]["podOffloadingStrategy"]>;
  readonly before?: NamespaceOffloading;
}

function offloadingManifest(
  namespace: string,
  { claims, ending = {}, strategy, before }: DesiredOffloading,
): NamespaceOffloading {
  const others = Object.entries(before?.metadata.annotations ?? {}).filter(
    ([key]) => !key.startsWith(CLAIM) && !key.startsWith(ENDING),
  );
  const chosen = [...new Set(Object.values(claims))].sort();
  return {
    apiVersion: "offloading.liqo.io/v1beta1",
    kind: "NamespaceOffloading",
    metadata: {
      ...before?.metadata,
      name: NAMESPACE_OFFLOADING_NAME,
      namespace,
      labels: { ...before?.metadata.labels, [MANAGED_BY_LABEL]: MANAGER },
      annotations: Object.fromEntries([...others, ...keyed(CLAIM, claims), ...keyed(ENDING, ending)]),
    },
    spec: {
      namespaceMappingStrategy: "DefaultName",
      ...before?.spec,
      podOffloadingStrategy: strategy,
      ...(chosen.length === 0 ? {} : { clusterSelector: selectorOf(chosen) }),
    },
  };
}

/**
 * Selects by cluster only. Liqo evaluates each VirtualNode, and one that does not match removes the namespace
 * from its whole cluster.
 */
function selectorOf(liqoIds: readonly string[]): NonNullable<NamespaceOffloading["spec"]["clusterSelector"]> {
  const rule = { key: LIQO_LABEL.remoteCluster, operator: "In", values: liqoIds } as const;
  return { nodeSelectorTerms: [{ matchExpressions: [rule] }] };
}

function keyed(prefix: string, claims: Claims): [string, string][] {
  return Object.entries(claims).map(([id, liqoId]) => [`${prefix}${id}`, liqoId]);
}

function isOurs({ metadata }: NamespaceOffloading): boolean {
  return metadata.labels?.[MANAGED_BY_LABEL] === MANAGER;
}

function claimsOf({ metadata }: NamespaceOffloading, prefix: string): Claims {
  const claims = Object.entries(metadata.annotations ?? {}).filter(([key]) => key.startsWith(prefix));
  return Object.fromEntries(claims.map(([key, liqoId]) => [key.slice(prefix.length), liqoId]));
}
