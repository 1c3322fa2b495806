import type { UiCapacity, UiResource } from "@resource-broker/contract/dashboard";
import { amountText, percent, RESOURCE_TITLES } from "../format/amounts.ts";

export type CapacityPart = "allocated" | "reserved" | "available";

export interface CapacityBarView {
  readonly resource: UiResource;
  readonly title: string;
  /** False: the cluster has none of it. */
  readonly hasAny: boolean;
  /** Shares of the whole bar, from 0 to 1; they never sum to more than 1. */
  readonly shares: Readonly<Record<CapacityPart, number>>;
  /** "12 of 64 free". */
  readonly text: string;
  /** All of it in words, for those who do not see the bar. */
  readonly description: string;
  /** More is promised than there is. */
  readonly isOver: boolean;
}

/** The bar's length is the allocatable amount, or the used amount when that is larger. */
export function capacityBar(capacity: UiCapacity, resource: UiResource): CapacityBarView {
  const allocatable = capacity.allocatable[resource];
  const allocated = capacity.allocated[resource];
  const reserved = capacity.reserved[resource];
  const available = Math.max(0, capacity.available[resource]);
  const length = Math.max(allocatable, allocated + reserved);
  const isOver = allocated + reserved > allocatable;
  const share = (value: number): number => (length === 0 ? 0 : Math.min(1, Math.max(0, value / length)));
  const shares = { allocated: share(allocated), reserved: share(reserved), available: 0 };
  // At most the rest of the bar: older agents report more than fits.
  shares.available = Math.min(share(available), Math.max(0, 1 - shares.allocated - shares.reserved));
  const text = (value: number): string => amountText(resource, value);
  return {
    resource,
    title: RESOURCE_TITLES[resource],
    hasAny: length > 0,
    shares,
    text: `${text(available)} of ${text(allocatable)} free`,
    description:
      `${RESOURCE_TITLES[resource]}: ${text(allocated)} allocated (${percent(shares.allocated)}), ` +
      `${text(reserved)} reserved (${percent(shares.reserved)}), ${text(available)} available of ${text(allocatable)}` +
      (isOver ? "; more is promised than there is" : ""),
    isOver,
  };
}
