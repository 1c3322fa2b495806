import { MAX_EXTENDED_RESOURCES } from "@resource-broker/base";
import { TIERS } from "@resource-broker/domain";
import {
  array,
  integer,
  line,
  number,
  object,
  oneOf,
  optional,
  record,
  required,
  titled,
} from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { currency, decimal, extendedResourceName, timeOfDay } from "../schema/terms.ts";

export const tierSchema = oneOf(...TIERS);

const extendedCostSchema = record(extendedResourceName(), decimal(), {
  maxProperties: MAX_EXTENDED_RESOURCES,
});

const spotSchema = object({
  cpuCost: optional(decimal(), "Spot price of one CPU for one hour.", { examples: ["0.012"] }),
  memoryCost: optional(decimal(), "Spot price of one GB (1,000,000,000 bytes) of memory for one hour.", {
    examples: ["0.002"],
  }),
  gpuCost: optional(decimal(), "Spot price of one GPU for one hour.", { examples: ["0.90"] }),
  storageCost: optional(decimal(), "Spot price of one GB of ephemeral storage for one hour.", {
    examples: ["0.0001"],
  }),
  extendedCost: optional(
    extendedCostSchema,
    "Spot price of one unit of other extended resources for one hour.",
  ),
});

const windowSchema = object({
  name: required(line({ minLength: 1, maxLength: 63 }), "What people call this time.", {
    examples: ["night"],
  }),
  days: optional(
    array(integer({ minimum: 0, maximum: 6 }), { minItems: 1, maxItems: 7 }),
    "Days on which it begins; 0 is Sunday. Absent: every day.",
    { examples: [[1, 2, 3, 4, 5]] },
  ),
  from: required(timeOfDay(), "First minute, in UTC.", { examples: ["22:00"] }),
  to: required(timeOfDay(), "First minute after it, in UTC. Earlier than from: it spans midnight.", {
    examples: ["06:00"],
  }),
  multiplier: required(
    number({ minimum: 0, maximum: 1000 }),
    "Every price is multiplied by this while the window is open.",
    { examples: [0.5] },
  ),
});

/** What a cluster asks for its capacity. */
export const costSchema = titled(
  "CostDTO",
  object({
    cpuCost: required(decimal(), "Price of one CPU for one hour.", { examples: ["0.042"] }),
    memoryCost: required(decimal(), "Price of one GB (1,000,000,000 bytes) of memory for one hour.", {
      examples: ["0.005"],
    }),
    gpuCost: optional(decimal(), "Price of one GPU for one hour.", { examples: ["2.50"] }),
    storageCost: optional(decimal(), "Price of one GB of ephemeral storage for one hour.", {
      examples: ["0.0002"],
    }),
    extendedCost: optional(
      extendedCostSchema,
      "Price of one unit of other extended resources for one hour.",
      {
        examples: [{ "amd.com/gpu": "1.10" }],
      },
    ),
    currency: required(currency(), "Currency of all prices.", { examples: ["EUR"] }),
    spot: optional(spotSchema, "Prices of the spot tier; what is not named costs the price above."),
    windows: optional(
      array(windowSchema, { maxItems: 16 }),
      "Times with other prices. The first one that holds the moment applies.",
    ),
  }),
  "What a cluster asks for its capacity. A resource without a price makes a request for it unpriced.",
);
export type CostDTO = Infer<typeof costSchema>;

/** What one reservation costs. */
export const reservationCostSchema = titled(
  "ReservationCostDTO",
  object({
    perHour: required(decimal(), "Price for one hour.", { examples: ["0.336"] }),
    total: optional(decimal(), "Price for the whole duration; absent while it is open-ended.", {
      examples: ["0.504"],
    }),
    currency: required(currency(), "Currency of the prices: the one the broker's policy compares in.", {
      examples: ["EUR"],
    }),
  }),
  "What a reservation costs, fixed when it is granted.",
);
export type ReservationCostDTO = Infer<typeof reservationCostSchema>;
