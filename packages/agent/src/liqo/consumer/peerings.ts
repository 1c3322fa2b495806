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
  readonly open: (wish: LoanWish) => Promise<void>;
  /** Fails with `conflict` when somebody else was faster. */
  readonly change: (marker: PeeringMarker, change: MarkerChange) => Promise<void>;
  readonly drop: (marker: PeeringMarker) => Promise<void>;
}

export function peerings(
  client: Pick<KubeClient, "list" | "find" | "create" | "update" | "delete">,
  namespace: string,
): Peerings {
  return {
    all: async () => {
      const markers: PeeringMarker[] = [];
      await client.list(CONFIG_MAPS, { namespace, labelSelector: `${PEERING_LABEL}=true` }, (object) => {
        const marker = readMarker(object);
        if (marker !== undefined) markers.push(marker);
      });
      return markers;
    },
    of: async (liqoId) => {
      const found = await client.find(CONFIG_MAPS, { name: markerName(liqoId), namespace });
      return found && readMarker(found);
    },
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
