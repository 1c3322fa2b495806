import { Fault } from "@resource-broker/contract";
import { CONFIG_MAPS, type KubeClient } from "@resource-broker/kube";
import type { LoanWish } from "./loan-wish.ts";
import {
  changedMarker,
  forgeMarker,
  type MarkerChange,
  markerName,
  PEERING_LABEL,
  type PeeringMarker,
  readMarker,
} from "./peering-marker.ts";

/** The peerings that this agent has made, as its own cluster remembers them. */
export interface Peerings {
  readonly all: () => Promise<PeeringMarker[]>;
  readonly of: (liqoId: string) => Promise<PeeringMarker | undefined>;
  /** liqoctl is about to be run: whatever peering there is from now on, this agent made it. False: it was recorded before. */
  readonly begin: (liqoId: string) => Promise<boolean>;
  /** Undoes `begin`: liqoctl could not be started. */
  readonly takeBack: (liqoId: string) => Promise<void>;
  readonly open: (wish: LoanWish) => Promise<void>;
  /** Fails with `conflict` when somebody else was faster. */
  readonly change: (marker: PeeringMarker, change: MarkerChange) => Promise<void>;
  readonly drop: (marker: PeeringMarker) => Promise<void>;
}

/** Other reservations may claim the peering at the same moment. */
const MAX_RACES = 8;

export function peerings(
  client: Pick<KubeClient, "list" | "find" | "create" | "update" | "delete">,
  namespace: string,
): Peerings {
  const of = async (liqoId: string): Promise<PeeringMarker | undefined> => {
    const found = await client.find(CONFIG_MAPS, { name: markerName(liqoId), namespace });
    const marker = found && readMarker(found);
    if (found === undefined || marker !== undefined) return marker;
    const where = `ConfigMap ${namespace}/${found.metadata.name}`;
    throw new Fault("invalid", `${where} is not as this agent writes it, and stands in its way: delete it`);
  };
  const setBegun = async (liqoId: string, isBegun: boolean, triesLeft = MAX_RACES): Promise<boolean> => {
    const marker = await of(liqoId);
    if (marker === undefined) throw new Fault("gone", "nobody needs the peering any more");
    if (marker.isBegun === isBegun) return false;
    try {
      await client.update(CONFIG_MAPS, changedMarker(marker, { isBegun }));
      return true;
    } catch (error) {
      const isRace = error instanceof Fault && error.code === "conflict";
      if (!isRace || triesLeft === 0) throw error;
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
    begin: (liqoId) => setBegun(liqoId, true),
    takeBack: async (liqoId) => void (await setBegun(liqoId, false)),
    open: async ({ id, liqoId, clusterId }) => {
      await client.create(CONFIG_MAPS, forgeMarker({ namespace, liqoId, clusterId, claim: id }));
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
