import { type KnownName, resourceTitle } from "@resource-broker/base";
import type { AdvertisementDTO } from "@resource-broker/contract";
import { memo } from "react";
import { type Amounts, amountsOf, amountText, percent } from "../format/amounts.ts";
import { None } from "../parts/table.tsx";
import { Bar, Legend } from "./bar.tsx";

const PARTS = ["allocated", "reserved", "available"] as const;

/** Allocatable = allocated + reserved + available, but for clusters that promised more than they have. */
export type Capacity = Readonly<Record<(typeof PARTS)[number] | "allocatable", Amounts>>;

export function capacityOf(resources: AdvertisementDTO["resources"]): Capacity {
  const { allocatable, allocated, reserved, available } = resources;
  return {
    allocatable: amountsOf(allocatable),
    allocated: amountsOf(allocated),
    reserved: amountsOf(reserved),
    available: amountsOf(available),
  };
}

/** The bar's length is the allocatable amount, or the used amount when that is larger. */
export function capacityBar(capacity: Capacity, resource: KnownName) {
  const { [resource]: allocatable = 0 } = capacity.allocatable;
  const { [resource]: allocated = 0 } = capacity.allocated;
  const { [resource]: reserved = 0 } = capacity.reserved;
  const available = Math.max(0, capacity.available[resource] ?? 0);
  const length = Math.max(allocatable, allocated + reserved);
  const isOver = allocated + reserved > allocatable;
  const share = (value: number): number => (length === 0 ? 0 : Math.min(1, Math.max(0, value / length)));
  // Shares of the whole bar; they never sum to more than 1.
  const shares = { allocated: share(allocated), reserved: share(reserved), available: 0 };
  // At most the rest of the bar: older agents report more than fits.
  shares.available = Math.min(share(available), Math.max(0, 1 - shares.allocated - shares.reserved));
  const text = (value: number): string => amountText(resource, value);
  return {
    /** False: the cluster has none of it. */
    hasAny: length > 0,
    shares,
    text: `${text(available)} of ${text(allocatable)} free`,
    /** All of it in words, for those who do not see the bar. */
    description:
      `${resourceTitle(resource)}: ${text(allocated)} allocated (${percent(shares.allocated)}), ` +
      `${text(reserved)} reserved (${percent(shares.reserved)}), ${text(available)} available of ${text(allocatable)}` +
      (isOver ? "; more is promised than there is" : ""),
    /** More is promised than there is. */
    isOver,
  };
}

interface CapacityBarProps {
  readonly capacity: Capacity;
  readonly resource: KnownName;
  readonly size?: "row" | "large";
}

/** Solid, hatched, open. */
export const CapacityBar = memo(function CapacityBar({ capacity, resource, size = "row" }: CapacityBarProps) {
  const { hasAny, shares, text, description, isOver } = capacityBar(capacity, resource);
  if (!hasAny) {
    return (
      <span title={`no ${resourceTitle(resource)}`}>
        <None />
      </span>
    );
  }
  return (
    <span className={`bar-box is-${size}`} title={description}>
      <Bar label={description} fills={PARTS.map((name) => ({ name, share: shares[name] }))} isOver={isOver} />
      <span className="bar-text num" aria-hidden="true">
        {text}
      </span>
    </span>
  );
});

export function CapacityLegend() {
  return <Legend label="Legend" items={PARTS.map((name) => ({ name, title: name }))} />;
}
