import { Fault } from "@resource-broker/base";
import { CONFIG_MAPS, type ConfigMap, type KubeClient } from "@resource-broker/kube";
import { isFault } from "../../faults.ts";
import { MANAGED_BY_LABEL, MANAGER } from "../../manifests/labels.ts";
import { isLiqoId } from "../liqoctl/kubeconfigs.ts";
import { remove, update, type Write } from "../writes.ts";
import { type Pair } from "./steps.ts";

/**
 * Records that this agent peered with a provider, and for which reservations. It is written before liqoctl
 * runs, so that a restarted agent can finish, and never ends a peering that a person made.
 */
export interface PeeringMarker extends Pair {
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

export function markerManifest(
  namespace: string,
  { liqoId, clusterId }: Pair,
  claims: readonly string[],
): ConfigMap {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: markerName(liqoId),
      namespace,
      labels: { [MANAGED_BY_LABEL]: MANAGER, [PEERING_LABEL]: "true" },
    },
    data: { liqoID: liqoId, clusterID: clusterId, ...claimEntries(claims) },
  };
}

function claimEntries(claims: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(claims.map((claim) => [`${CLAIM}${claim}`, ""]));
}

const WARM = "warm.";

/** The claim of no reservation: it keeps the peering of a warm pair. */
export function warmClaimOf(liqoId: string): string {
  return `${WARM}${liqoId}`;
}

export function isWarmClaim(claim: string): boolean {
  return claim.startsWith(WARM);
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
  readonly claims?: readonly string[];
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
      ...claimEntries(change.claims ?? []),
      ...(isBegun ? { [BEGUN]: "true" } : {}),
      ...(isEnding ? { [ENDING]: "true" } : {}),
    },
  };
}

export function changeMarker(marker: PeeringMarker, change: MarkerChange): Write {
  return update(CONFIG_MAPS, changedMarker(marker, change));
}

/** Deletes this version of the marker and no other. */
export function dropMarker({ object }: PeeringMarker): Write {
  const { uid, resourceVersion } = object.metadata;
  return remove(CONFIG_MAPS, object, {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  });
}

/** Other reservations may change the marker at the same time. */
const MAX_CONFLICTS = 8;

export type PeeringMarkers = ReturnType<typeof peeringMarkers>;

/** The markers of this agent: ConfigMaps in its own cluster. */
export function peeringMarkers(client: Pick<KubeClient, "list" | "find" | "update">, namespace: string) {
  const of = async (liqoId: string): Promise<PeeringMarker | undefined> => {
    const found = await client.find(CONFIG_MAPS, { name: markerName(liqoId), namespace });
    const marker = found && readMarker(found);
    if (found === undefined || marker !== undefined) return marker;
    const where = `ConfigMap ${namespace}/${found.metadata.name}`;
    throw new Fault("invalid", `${where} was not written by this agent and blocks the peering: delete it`);
  };
  const all = async (): Promise<PeeringMarker[]> => {
    const markers: PeeringMarker[] = [];
    await client.list(CONFIG_MAPS, { namespace, labelSelector: `${PEERING_LABEL}=true` }, (object) => {
      const marker = readMarker(object);
      if (marker !== undefined) markers.push(marker);
    });
    return markers;
  };
  /**
   * Before liqoctl runs: from now on the peering counts as this agent's. False again where liqoctl could not be
   * started. Returns whether this call changed it.
   */
  const setBegun = async (liqoId: string, isBegun: boolean, triesLeft = MAX_CONFLICTS): Promise<boolean> => {
    const marker = await of(liqoId);
    if (marker === undefined) throw new Fault("gone", "the peering is not needed any more");
    if (marker.isBegun === isBegun) return false;
    try {
      await client.update(CONFIG_MAPS, changedMarker(marker, { isBegun }));
      return true;
    } catch (error) {
      if (!isFault(error, "conflict") || triesLeft === 0) throw error;
      return await setBegun(liqoId, isBegun, triesLeft - 1);
    }
  };
  return { namespace, of, all, setBegun };
}
