import { Fault } from "@resource-broker/base";
import { CONFIG_MAPS, type ConfigMap, type KubeClient } from "@resource-broker/kube";
import { MANAGED_BY_LABEL, MANAGER } from "../../manifests/labels.ts";
import { isLiqoId } from "../liqoctl/kubeconfigs.ts";
import type { DesiredVirtualNode } from "./desired-virtual-node.ts";

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

const PEERING_LABEL = "rear.fluidos.eu/liqo-peering";
const CLAIM = "claim.";
const BEGUN = "begun";
const ENDING = "ending";

export function markerName(liqoId: string): string {
  return `liqo-peering-${liqoId}`;
}

interface NewMarker {
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

/** The peerings of this agent, stored as ConfigMaps in its own cluster. */
export interface PeeringStore {
  readonly all: () => Promise<PeeringMarker[]>;
  readonly of: (liqoId: string) => Promise<PeeringMarker | undefined>;
  /** Marks that liqoctl is about to run: from now on the peering counts as this agent's. False: it was marked before. */
  readonly markBegun: (liqoId: string) => Promise<boolean>;
  /** liqoctl could not be started: the mark is removed. */
  readonly unmarkBegun: (liqoId: string) => Promise<void>;
  readonly open: (desired: DesiredVirtualNode) => Promise<void>;
  /** Fails with `conflict` after a concurrent change. */
  readonly change: (marker: PeeringMarker, change: MarkerChange) => Promise<void>;
  readonly drop: (marker: PeeringMarker) => Promise<void>;
}

/** Other reservations may change the marker at the same time. */
const MAX_CONFLICTS = 8;

export function peeringStore(
  client: Pick<KubeClient, "list" | "find" | "create" | "update" | "delete">,
  namespace: string,
): PeeringStore {
  const of = async (liqoId: string): Promise<PeeringMarker | undefined> => {
    const found = await client.find(CONFIG_MAPS, { name: markerName(liqoId), namespace });
    const marker = found && readMarker(found);
    if (found === undefined || marker !== undefined) return marker;
    const where = `ConfigMap ${namespace}/${found.metadata.name}`;
    throw new Fault("invalid", `${where} was not written by this agent and blocks the peering: delete it`);
  };
  const setBegun = async (liqoId: string, isBegun: boolean, triesLeft = MAX_CONFLICTS): Promise<boolean> => {
    const marker = await of(liqoId);
    if (marker === undefined) throw new Fault("gone", "the peering is not needed any more");
    if (marker.isBegun === isBegun) return false;
    try {
      await client.update(CONFIG_MAPS, changedMarker(marker, { isBegun }));
      return true;
    } catch (error) {
      const isConflict = error instanceof Fault && error.code === "conflict";
      if (!isConflict || triesLeft === 0) throw error;
      return await setBegun(liqoId, isBegun, triesLeft - 1);
    }
  };

  return {
    all: async () => {
      const markers: PeeringMarker[] = [];
      await client.list(CONFIG_MAPS, { namespace, labelSelector: `${PEERING_LABEL}=true` }, (object) => {
        const marker = readMarker(object);
        if (marker !== undefined) markers.push(marker);
      });
      return markers;
    },
    of,
    markBegun: (liqoId) => setBegun(liqoId, true),
    unmarkBegun: async (liqoId) => void (await setBegun(liqoId, false)),
    open: async ({ id, liqoId, clusterId }) => {
      await client.create(CONFIG_MAPS, markerManifest({ namespace, liqoId, clusterId, claim: id }));
    },
    change: async (marker, change) => {
      await client.update(CONFIG_MAPS, changedMarker(marker, change));
    },
    drop: async ({ object }) => {
      const { name, uid, resourceVersion } = object.metadata;
      await client.delete(
        CONFIG_MAPS,
        { name, namespace },
        {
          ...(uid === undefined ? {} : { uid }),
          ...(resourceVersion === undefined ? {} : { resourceVersion }),
        },
      );
    },
  };
}
