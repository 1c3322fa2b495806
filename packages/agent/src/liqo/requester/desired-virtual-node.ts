import { FIELD_RESOURCES, formatTime, parseTime } from "@resource-broker/base";
import { DEFAULT_SLICE } from "@resource-broker/contract";
import { isClusterId } from "@resource-broker/domain";
import type { DeliverySpec, Offload } from "../../data-plane/data-plane.ts";
import { MANAGED_BY_LABEL, MANAGER } from "../../manifests/labels.ts";
import type { Reservation } from "../../reservations/reservation.ts";
import { isLiqoId } from "../liqoctl/kubeconfigs.ts";
import {
  EXPIRES_AT_ANNOTATION,
  isNothing,
  isSameList,
  LIQO_ANNOTATION,
  LIQO_LABEL,
  NAMESPACE_MAPS,
  RESERVATION_LABEL,
  RESOURCE_SLICES,
  type ResourceList,
  type ResourceSlice,
  SCRATCH,
  SLICE_CLASS,
  tenantNamespaceOf,
} from "../objects.ts";
import { patch, type Write } from "../writes.ts";
import type { Obstacle, Pair } from "./steps.ts";

/** The desired virtual node of one reservation; its provider is the other cluster of the pair. */
export interface DesiredVirtualNode extends Pair {
  readonly id: string;
  readonly resources: ResourceList;
  /** Resources that are in no ledger: the provider may grant less of them, but not none. */
  readonly unreserved: readonly string[];
  readonly expiresAt: string | undefined;
  readonly offload: Offload | undefined;
  /** It gets no new pods. */
  readonly isUnderNotice: boolean;
}

type DesiredReading =
  | { readonly ok: true; readonly desired: DesiredVirtualNode }
  | { readonly ok: false; readonly obstacle: Obstacle };

/** Liqo names Deployments after slices and adds a hash. */
const MAX_SLICE_NAME = 50;
const SLICE_NAME = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
const SHOWN_LENGTH = 80;

/**
 * Every field of a reservation is checked here before it is used in a path, a flag or a name. `gpuResource` is the
 * extended resource name that reserved GPUs are requested by.
 */
export function readDesired({ reservation, offload }: DeliverySpec, gpuResource: string): DesiredReading {
  const { id, provider, dataPlaneIds, expiresAt } = reservation;
  const liqoId = dataPlaneIds.provider;
  if (!isClusterId(provider)) {
    return refused("ClusterIDRefused", `${shown(provider)} is not a cluster ID that can be used with Liqo`);
  }
  if (liqoId === undefined) {
    const remedy = "install Liqo there, or update its agent";
    return refused("LiqoIDUnknown", `${provider} does not advertise its cluster ID in Liqo: ${remedy}`);
  }
  if (!isLiqoId(liqoId)) {
    return refused("LiqoIDRefused", `${shown(liqoId)} of ${provider} is not a cluster ID of Liqo`);
  }
  if (id.length > MAX_SLICE_NAME || !SLICE_NAME.test(id)) {
    const most = `at most ${MAX_SLICE_NAME} lower-case letters, digits and dashes`;
    return refused("NameRefused", `${shown(id)} cannot name a slice of Liqo: ${most}`);
  }
  if (Object.keys(offload?.podSelector ?? {}).length > 0) {
    const remedy = "leave podSelector out and put those pods into a namespace of their own";
    return refused("PodSelectorUnsupported", `Liqo offloads whole namespaces: ${remedy}`);
  }
  const desired = {
    id,
    clusterId: provider,
    liqoId,
    ownLiqoId: dataPlaneIds.requester,
    ...sliceAmounts(reservation, gpuResource),
    expiresAt: normalTime(expiresAt),
    offload,
    isUnderNotice: reservation.preempting !== undefined,
  };
  return { ok: true, desired };
}

function refused(reason: string, message: string): DesiredReading {
  return { ok: false, obstacle: { reason, message } };
}

/** Times are normalized, so that an equal time causes no write. */
function normalTime(time: string | undefined): string | undefined {
  const at = parseTime(time ?? "");
  return at === undefined ? undefined : formatTime(at);
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, SHOWN_LENGTH));
}

/** The resources of a slice. Every amount is stated, because Liqo adds defaults for missing ones. */
function sliceAmounts(
  { quantities, sliceDefaults = DEFAULT_SLICE }: Pick<Reservation, "quantities" | "sliceDefaults">,
  gpuResource: string,
): Pick<DesiredVirtualNode, "resources" | "unreserved"> {
  const { cpu, memory, extended = {} } = quantities;
  const reserved = FIELD_RESOURCES.map(
    ({ name, kubernetesName }) => [kubernetesName ?? gpuResource, quantities[name] ?? "0"] as const,
  );
  const amounts = [...reserved, ...Object.entries(extended)].filter(([, amount]) => !isNothing(amount));
  const resources = {
    cpu,
    memory,
    pods: String(sliceDefaults.pods),
    [SCRATCH.kubernetesName]: sliceDefaults.ephemeralStorage,
    ...Object.fromEntries(amounts),
  };
  const hasScratch = amounts.some(([name]) => name === SCRATCH.kubernetesName);
  return { resources, unreserved: hasScratch ? ["pods"] : ["pods", SCRATCH.kubernetesName] };
}

/** The ResourceSlice of one reservation. Liqo adds the consumer's ID and the certificate request. */
export function sliceManifest({ id, liqoId, resources, expiresAt }: DesiredVirtualNode): ResourceSlice {
  return {
    apiVersion: "authentication.liqo.io/v1beta1",
    kind: "ResourceSlice",
    metadata: {
      name: id,
      namespace: tenantNamespaceOf(liqoId),
      labels: {
        [LIQO_LABEL.replication]: "true",
        [LIQO_LABEL.destination]: liqoId,
        [LIQO_LABEL.remoteCluster]: liqoId,
        [RESERVATION_LABEL]: id,
        [MANAGED_BY_LABEL]: MANAGER,
      },
      annotations: {
        [LIQO_ANNOTATION.createVirtualNode]: "true",
        ...(expiresAt === undefined ? {} : { [EXPIRES_AT_ANNOTATION]: expiresAt }),
      },
    },
    spec: { class: SLICE_CLASS, providerClusterID: liqoId, resources },
  };
}

/** True when this agent created it for this reservation. */
export function isOurSlice({ metadata }: ResourceSlice, id: string): boolean {
  const { labels = {} } = metadata;
  return labels[RESERVATION_LABEL] === id && labels[LIQO_LABEL.replicated] !== "true";
}

export function conditionOf({ status }: ResourceSlice, wanted: "Authentication" | "Resources") {
  return status?.conditions?.find(({ type }) => type === wanted);
}

/** The write that resets the slice to the desired resources; undefined: they are set. */
export function resetSlice(slice: ResourceSlice, { resources }: DesiredVirtualNode): Write | undefined {
  const { metadata, spec } = slice;
  const makesNode = metadata.annotations?.[LIQO_ANNOTATION.createVirtualNode] === "true";
  if (makesNode && isSameList(resources, spec.resources)) return undefined;
  // A merge patch keeps fields that it does not name: unwanted resources are set to null.
  const unwanted = Object.keys(spec.resources ?? {}).filter((name) => !Object.hasOwn(resources, name));
  return patch(RESOURCE_SLICES, slice, {
    metadata: { annotations: { [LIQO_ANNOTATION.createVirtualNode]: "true" } },
    spec: { resources: { ...resources, ...Object.fromEntries(unwanted.map((name) => [name, null])) } },
  });
}

/**
 * Liqo's replicator does not retry what the provider has refused until the object changes. An API server that
 * has just started refuses everything until it has loaded its Roles.
 */
const TOUCH_ANNOTATION = "rear.fluidos.eu/look-again";
const TOUCH_MS = 30_000;

/**
 * An annotation without meaning that makes Liqo replicate again. Its value changes every 30 s, so repeated patches
 * in between change nothing. Undefined: Liqo may still be working.
 */
function touch(since: string | undefined, wallMs: number): object | undefined {
  const waitedMs = wallMs - (parseTime(since ?? "") ?? wallMs);
  if (waitedMs < TOUCH_MS) return undefined;
  return { metadata: { annotations: { [TOUCH_ANNOTATION]: String(Math.floor(wallMs / TOUCH_MS)) } } };
}

/** Sets the slice's expiry, or makes Liqo replicate a slice without an answer again. What is ready stays ready. */
export function refreshSlice(
  slice: ResourceSlice,
  { id, expiresAt }: DesiredVirtualNode,
  wallMs: number,
): Write[] {
  const { annotations = {}, creationTimestamp, deletionTimestamp } = slice.metadata;
  if (!isOurSlice(slice, id) || deletionTimestamp !== undefined) return [];
  if (annotations[EXPIRES_AT_ANNOTATION] !== expiresAt) {
    const body = { metadata: { annotations: { [EXPIRES_AT_ANNOTATION]: expiresAt ?? null } } };
    return [patch(RESOURCE_SLICES, slice, body)];
  }
  if (conditionOf(slice, "Authentication") !== undefined) return [];
  const body = touch(creationTimestamp, wallMs);
  return body === undefined ? [] : [patch(RESOURCE_SLICES, slice, body)];
}

/** Makes Liqo replicate a namespace again that has not existed at the provider since then. */
export function refreshNamespaceMap(liqoId: string, since: string | undefined, wallMs: number): Write[] {
  const map = { metadata: { name: liqoId, namespace: tenantNamespaceOf(liqoId) } };
  const body = touch(since, wallMs);
  return body === undefined ? [] : [patch(NAMESPACE_MAPS, map, body)];
}
