import { MAX_EXTENDED_RESOURCES, perResource, RESOURCE, type SlotResource } from "@resource-broker/base";
import { TIERS } from "@resource-broker/domain";
import * as t from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { currency, decimal, extendedResourceName, timeOfDay } from "../schema/terms.ts";

export const tierSchema = t.oneOf(...TIERS);

const extendedCostSchema = t.record(extendedResourceName(), decimal(), MAX_EXTENDED_RESOURCES);

const spotSchema = t.object({
  ...perResource("costField", ({ pricedUnit, priceExamples }) =>
    t.optional(decimal(), `Spot price of ${pricedUnit} for one hour.`, priceExamples.spot),
  ),
  extendedCost: t.optional(
    extendedCostSchema,
    "Spot price of one unit of other extended resources for one hour.",
  ),
});

const windowSchema = t.object({
  name: t.required(t.nonEmptyLine(63), "What people call this time.", "night"),
  days: t.optional(
    t.array(t.integer(0, 6), 7, { minItems: 1 }),
    "Days on which it begins; 0 is Sunday. Absent: every day.",
    [1, 2, 3, 4, 5],
  ),
  from: t.required(timeOfDay(), "First minute, in UTC.", "22:00"),
  to: t.required(
    timeOfDay(),
    "First minute after it, in UTC. Earlier than from: it spans midnight.",
    "06:00",
  ),
  multiplier: t.required(
    t.number(0, 1000),
    "Every price is multiplied by this while the window is open.",
    0.5,
  ),
});

const alwaysPriced = ({ pricedUnit, priceExamples }: SlotResource) =>
  t.required(decimal(), `Price of ${pricedUnit} for one hour.`, priceExamples.onDemand);

/** What a cluster asks for its capacity. */
export const costSchema = t.message(
  "CostDTO",
  "What a cluster asks for its capacity. A resource without a price makes a request for it unpriced.",
  {
    ...perResource("costField", ({ pricedUnit, priceExamples }) =>
      t.optional(decimal(), `Price of ${pricedUnit} for one hour.`, priceExamples.onDemand),
    ),
    cpuCost: alwaysPriced(RESOURCE.cpu),
    memoryCost: alwaysPriced(RESOURCE.memory),
    extendedCost: t.optional(
      extendedCostSchema,
      "Price of one unit of other extended resources for one hour.",
      { "amd.com/gpu": "1.10" },
    ),
    currency: t.required(currency(), "Currency of all prices.", "EUR"),
    spot: t.optional(spotSchema, "Prices of the spot tier; what is not named costs the price above."),
    windows: t.optional(
      t.array(windowSchema, 16),
      "Times with other prices. The first one that holds the moment applies.",
    ),
  },
);
export type CostDTO = Infer<typeof costSchema>;

/** What one reservation costs. */
export const reservationCostSchema = t.message(
  "ReservationCostDTO",
  "What a reservation costs, fixed when it is granted.",
  {
    perHour: t.required(decimal(), "Price for one hour.", "0.336"),
    total: t.optional(decimal(), "Price for the whole duration; absent while it is open-ended.", "0.504"),
    currency: t.required(
      currency(),
      "Currency of the prices: the one the broker's policy compares in.",
      "EUR",
    ),
  },
);
export type ReservationCostDTO = Infer<typeof reservationCostSchema>;
