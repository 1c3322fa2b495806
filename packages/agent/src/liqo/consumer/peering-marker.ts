import type { ConfigMap } from "@resource-broker/kube";
import { MANAGED_BY_LABEL, MANAGER } from "../../forge/labels.ts";
import { isLiqoId } from "../liqoctl/kubeconfigs.ts";

/**
 * Records that this agent peered with a provider, and for which reservations. It is written before liqoctl
 * runs, so that a restarted agent can finish, and never ends a peering that a person made.
 */
export interface PeeringMarker {
  readonly liqoId: string;
  readonly clusterId: string;
  /** IDs of the reservations that need the peering. */
  readonly claims: readonly string[];
  /** False: liqoctl never ran for it; an existing peering was made by a person. */
  readonly isBegun: boolean;
  /** True: the peering is being ended; nobody may use it until it is gone or reopened. */
  readonly isEnding: boolean;
  readonly object: ConfigMap;
}

export const PEERING_LABEL = "rear.fluidos.eu/liqo-peering";
const CLAIM = "claim.";
const BEGUN = "begun";
const ENDING = "ending";

export function markerName(liqoId: string): string {
  return `liqo-peering-${liqoId}`;
}

export interface NewMarker {
  readonly namespace: string;
  readonly liqoId: string;
  readonly clusterId: string;
  readonly claim: string;
}

export function markerManifest({ namespace, liqoId, clusterId, claim }: NewMarker): ConfigMap {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: markerName(liqoId),
      namespace,
      labels: { [MANAGED_BY_LABEL]: MANAGER, [PEERING_LABEL]: "true" },
    },
    data: { liqoID: liqoId, clusterID: clusterId, [`${CLAIM}${claim}`]: "" },
  };
}

/** Undefined: not a valid marker, despite its label. */
export function readMarker(object: ConfigMap): PeeringMarker | undefined {
  const { data = {}, metadata } = object;
  const { liqoID: liqoId = "", clusterID: clusterId = "" } = data;
  if (metadata.labels?.[PEERING_LABEL] !== "true") return undefined;
  if (!isLiqoId(liqoId) || metadata.name !== markerName(liqoId)) return undefined;
  const claims = Object.keys(data).filter((key) => key.startsWith(CLAIM));
  return {
    liqoId,
    clusterId,
    claims: claims.map((key) => key.slice(CLAIM.length)).sort(),
    isBegun: data[BEGUN] === "true",
    isEnding: data[ENDING] === "true",
    object,
  };
}

export interface MarkerChange {
  readonly claim?: string;
  readonly unclaim?: string;
  readonly isBegun?: boolean;
  readonly isEnding?: boolean;
}

/** The changed marker. It keeps its resourceVersion, so that concurrent changes cause a conflict. */
export function changedMarker(marker: PeeringMarker, change: MarkerChange): ConfigMap {
  const { object } = marker;
  const { isBegun = marker.isBegun, isEnding = marker.isEnding } = change;
  const data = Object.entries(object.data ?? {}).filter(
    ([key]) => key !== BEGUN && key !== ENDING && key !== `${CLAIM}${change.unclaim}`,
  );
  return {
    ...object,
    data: {
      ...Object.fromEntries(data),
      ...(change.claim === undefined ? {} : { [`${CLAIM}${change.claim}`]: "" }),
      ...(isBegun ? { [BEGUN]: "true" } : {}),
      ...(isEnding ? { [ENDING]: "true" } : {}),
    },
  };
}
