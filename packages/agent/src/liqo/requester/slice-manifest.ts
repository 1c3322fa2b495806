import { parseTime } from "@resource-broker/base";
import type { Patch } from "@resource-broker/kube";
import { MANAGED_BY_LABEL, MANAGER } from "../../manifests/labels.ts";
import type { ResourceSlice } from "../objects/authentication.ts";
import {
  EXPIRES_AT_ANNOTATION,
  LIQO_ANNOTATION,
  LIQO_LABEL,
  RESERVATION_LABEL,
  SLICE_CLASS,
  tenantNamespaceOf,
} from "../objects/labels.ts";
import type { DesiredVirtualNode } from "./desired-virtual-node.ts";
import { isSameList } from "./slice-amounts.ts";

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

/** The patch that sets the expiry on the slice; undefined: it is set, or the slice is not this agent's. */
export function expiryPatch(slice: ResourceSlice, { id, expiresAt }: DesiredVirtualNode): Patch | undefined {
  const { annotations = {}, deletionTimestamp } = slice.metadata;
  if (!isOurSlice(slice, id) || deletionTimestamp !== undefined) return undefined;
  if (annotations[EXPIRES_AT_ANNOTATION] === expiresAt) return undefined;
  return {
    kind: "merge",
    body: { metadata: { annotations: { [EXPIRES_AT_ANNOTATION]: expiresAt ?? null } } },
  };
}

/** The patch that sets the desired resources; undefined: they are set. */
export function slicePatch(
  { metadata, spec }: ResourceSlice,
  desired: DesiredVirtualNode,
): Patch | undefined {
  const { annotations = {} } = metadata;
  const isSame =
    isSameList(desired.resources, spec.resources) &&
    annotations[LIQO_ANNOTATION.createVirtualNode] === "true";
  if (isSame) return undefined;
  // A merge patch keeps fields that it does not name: unwanted resources are set to null.
  const unwanted = Object.keys(spec.resources ?? {}).filter(
    (name) => !Object.hasOwn(desired.resources, name),
  );
  return {
    kind: "merge",
    body: {
      metadata: {
        annotations: { [LIQO_ANNOTATION.createVirtualNode]: "true" },
      },
      spec: {
        resources: { ...desired.resources, ...Object.fromEntries(unwanted.map((name) => [name, null])) },
      },
    },
  };
}

/**
 * Liqo's replicator does not retry what the provider has refused until the object changes. An API server that
 * has just started refuses everything until it has loaded its Roles.
 */
const TOUCH_ANNOTATION = "rear.fluidos.eu/look-again";
const TOUCH_MS = 30_000;

/**
 * A patch without meaning that makes Liqo replicate again. Its value changes every 30 s, so repeated patches in
 * between change nothing. Undefined: Liqo may still be working.
 */
export function touchPatch(since: string | undefined, wallMs: number): Patch | undefined {
  const waitedMs = wallMs - (parseTime(since ?? "") ?? wallMs);
  if (waitedMs < TOUCH_MS) return undefined;
  const period = String(Math.floor(wallMs / TOUCH_MS));
  return { kind: "merge", body: { metadata: { annotations: { [TOUCH_ANNOTATION]: period } } } };
}

/** The same for a slice without an answer. */
export function touchSlicePatch(
  slice: ResourceSlice,
  { id }: DesiredVirtualNode,
  wallMs: number,
): Patch | undefined {
  const { creationTimestamp, deletionTimestamp } = slice.metadata;
  if (!isOurSlice(slice, id) || deletionTimestamp !== undefined) return undefined;
  if (slice.status?.conditions?.some(({ type }) => type === "Authentication") === true) return undefined;
  return touchPatch(creationTimestamp, wallMs);
}
