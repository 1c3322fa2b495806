import { formatTime, parseTime } from "@resource-broker/base";
import { isClusterId } from "@resource-broker/domain";
import type { DeliverySpec, Offload } from "../../data-plane/data-plane.ts";
import { isLiqoId } from "../liqoctl/kubeconfigs.ts";
import type { ResourceList } from "../objects/authentication.ts";
import { type SliceAmountTerms, sliceAmounts, unreservedNames } from "./slice-amounts.ts";

/** The desired virtual node of one reservation. */
export interface DesiredVirtualNode {
  readonly id: string;
  /** The provider's cluster ID at the broker; its kubeconfig has this name. */
  readonly clusterId: string;
  /** The provider's cluster ID in Liqo. */
  readonly liqoId: string;
  readonly ownLiqoId: string | undefined;
  readonly resources: ResourceList;
  /** Resources that are in no ledger. */
  readonly unreserved: readonly string[];
  readonly expiresAt: string | undefined;
  readonly offload: Offload | undefined;
}

export interface Obstacle {
  readonly reason: string;
  readonly message: string;
}

export type DesiredReading =
  | { readonly ok: true; readonly desired: DesiredVirtualNode }
  | { readonly ok: false; readonly obstacle: Obstacle };

/** Liqo names Deployments after slices and adds a hash. */
const MAX_SLICE_NAME = 50;
const SLICE_NAME = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
const SHOWN_LENGTH = 80;

/** Every field of a reservation is checked here before it is used in a path, a flag or a name. */
export function readDesired({ reservation, offload }: DeliverySpec, terms: SliceAmountTerms): DesiredReading {
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
  const selector = offload?.podSelector ?? {};
  if (Object.keys(selector).length > 0) {
    const remedy = "leave podSelector out and put those pods into a namespace of their own";
    return refused("PodSelectorUnsupported", `Liqo offloads whole namespaces: ${remedy}`);
  }
  return {
    ok: true,
    desired: {
      id,
      clusterId: provider,
      liqoId,
      ownLiqoId: dataPlaneIds.requester,
      resources: sliceAmounts(reservation, terms),
      unreserved: unreservedNames(reservation),
      expiresAt: normalTime(expiresAt),
      offload,
    },
  };
}

function refused(reason: string, message: string): DesiredReading {
  return { ok: false, obstacle: { reason, message } };
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, SHOWN_LENGTH));
}

/** Times are normalized, so that an equal time causes no write. */
function normalTime(time: string | undefined): string | undefined {
  const at = time === undefined ? undefined : parseTime(time);
  return at === undefined ? undefined : formatTime(at);
}
