import type { SlotResource } from "@resource-broker/base";

/**
 * Price of one unit for one hour: a CPU, a gigabyte (10⁹ bytes) or a device, as the table of resources says. A resource without
 * a price makes a request for it unpriced.
 */
export type UnitPrices = Readonly<Partial<Record<SlotResource["priceSlot"], number>>> & {
  readonly extendedHour?: Readonly<Record<string, number>>;
};

export const TIERS = ["on-demand", "spot"] as const;
export type Tier = (typeof TIERS)[number];

/** A time of the week with other prices, in UTC. `fromMinute` may be after `toMinute`: it then spans midnight. */
export interface PriceWindow {
  readonly name: string;
  /** 0 is Sunday; absent means every day. A window that spans midnight belongs to the day it begins. */
  readonly days?: readonly number[];
  /** Minutes after midnight. */
  readonly fromMinute: number;
  readonly toMinute: number;
  /** Every price is multiplied by this inside the window. */
  readonly multiplier: number;
}

/** What a cluster asks for its capacity. */
export interface CostModel {
  readonly currency: string;
  readonly onDemand: UnitPrices;
  /** Prices of the spot tier; resources it does not name cost the on-demand price. */
  readonly spot?: UnitPrices;
  /** The first window that holds the moment applies. */
  readonly windows?: readonly PriceWindow[];
}
