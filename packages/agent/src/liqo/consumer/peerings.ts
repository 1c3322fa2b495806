import { Fault } from "@resource-broker/contract";
import { CONFIG_MAPS, type KubeClient } from "@resource-broker/kube";
import type { DesiredVirtualNode } from "./loan-wish.ts";
import {
  changedMarker,
  type MarkerChange,
  markerManifest,
  markerName,
  PEERING_LABEL,
  type PeeringMarker,
  readMarker,
} from "./peering-marker.ts";

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
