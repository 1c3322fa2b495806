import { MAX_EXTENDED_RESOURCES } from "@resource-broker/base";
import { object, optional, record, required, titled } from "../schema/builders.ts";
import type { Infer, Schema, Sign } from "../schema/node.ts";
import { count, extendedResourceName, quantity } from "../schema/terms.ts";

const CPU_EXAMPLES = ["500m", "2"];
const MEMORY_EXAMPLES = ["512Mi", "8Gi"];

/** Amounts of extended resources by their Kubernetes name. */
export function extendedQuantities(sign: Sign): Schema<Readonly<Record<string, string>>> {
  return record(extendedResourceName(), quantity(sign), { maxProperties: MAX_EXTENDED_RESOURCES });
}

/** The same for what is asked for: devices are lent whole. */
export function extendedCounts(): Schema<Readonly<Record<string, string>>> {
  return record(extendedResourceName(), count(), { maxProperties: MAX_EXTENDED_RESOURCES });
}

/** One quantity per resource; cpu and memory are always stated. `main` is what those two may be, `others` the rest. */
function quantitySet(main: Sign, others: Sign) {
  // Fractions in advertised capacity are accepted and rounded down, because older agents send them.
  const isAsked = main === "positive";
  return object({
    cpu: required(quantity(main), "CPU in cores (2, 0.5) or millicores (500m).", { examples: CPU_EXAMPLES }),
    memory: required(quantity(main), "Memory in bytes, with a unit such as Mi or Gi.", {
      examples: MEMORY_EXAMPLES,
    }),
    gpu: optional(isAsked ? count() : quantity(others), "Number of GPUs, whole ones.", { examples: ["1"] }),
    storage: optional(quantity(others), "Ephemeral storage in bytes, with a unit such as Gi.", {
      examples: ["20Gi"],
    }),
    extended: optional(
      isAsked ? extendedCounts() : extendedQuantities(others),
      "Other extended resources by their Kubernetes name.",
      { examples: [{ "amd.com/gpu": "1" }] },
    ),
  });
}

/** What a cluster has: nothing below zero. */
export const resourceQuantitiesSchema = titled(
  "ResourceQuantitiesDTO",
  quantitySet("non-negative", "non-negative"),
  "Amounts of each resource, as Kubernetes quantities.",
);
export type ResourceQuantitiesDTO = Infer<typeof resourceQuantitiesSchema>;

/** What someone asks for: some CPU and some memory. */
export const requestedQuantitiesSchema = titled(
  "RequestedResourcesDTO",
  quantitySet("positive", "non-negative"),
  "Amounts that are asked for or held: cpu and memory more than 0.",
);

/** Amounts that are only shown: older agents send negative available amounts when they are overcommitted. */
export const shownQuantitiesSchema = titled(
  "ShownQuantitiesDTO",
  quantitySet("any", "any"),
  "Amounts that are shown and never decided on; older agents may send negative ones.",
);

/** Amounts of only the resources that matter. */
export const someQuantityFields = {
  cpu: optional(quantity("non-negative"), "CPU in cores (2, 0.5) or millicores (500m).", {
    examples: CPU_EXAMPLES,
  }),
  memory: optional(quantity("non-negative"), "Memory in bytes, with a unit such as Mi or Gi.", {
    examples: MEMORY_EXAMPLES,
  }),
  gpu: optional(count(), "Number of GPUs, whole ones.", { examples: ["1"] }),
  storage: optional(quantity("non-negative"), "Ephemeral storage in bytes.", { examples: ["20Gi"] }),
  extended: optional(extendedCounts(), "Other extended resources by their Kubernetes name.", {
    examples: [{ "amd.com/gpu": "1" }],
  }),
};

/** A shortage, or what one node must fit. */
export const someQuantitiesSchema = titled(
  "SomeQuantitiesDTO",
  object(someQuantityFields, { minProperties: 1 }),
  "Amounts of only the resources that are named.",
);
export type SomeQuantitiesDTO = Infer<typeof someQuantitiesSchema>;

const resourceFields = {
  capacity: required(resourceQuantitiesSchema, "All that the counted nodes have."),
  allocatable: required(resourceQuantitiesSchema, "What the counted nodes can give to pods."),
  allocated: required(
    resourceQuantitiesSchema,
    "Requests of the cluster's own pods. Pods that run for a reservation are counted in usage instead.",
  ),
  used: optional(resourceQuantitiesSchema, "Real consumption where metrics.k8s.io is served. Only shown."),
  reserved: optional(
    shownQuantitiesSchema,
    "Held by reservations. Computed by the broker; ignored on input.",
  ),
};
const AVAILABLE = "What can still be lent. Computed by the broker; ignored on input.";

/** Shared by the wire and the agents' own Advertisement, so that nothing is ever mapped between them. */
export const resourcesSchema = titled(
  "ResourcesDTO",
  object({ ...resourceFields, available: required(shownQuantitiesSchema, AVAILABLE) }),
  "What a cluster has, what it uses itself, what it lends and what is left.",
);

/** In the broker's cluster, `reserved` and `available` are the broker's fields: an agent leaves both out. */
export const offeredResourcesSchema = object({
  ...resourceFields,
  available: optional(shownQuantitiesSchema, AVAILABLE),
});
