import {
  type KnownResource,
  MAX_EXTENDED_RESOURCES,
  perResource,
  RESOURCE,
  type SlotResource,
} from "@resource-broker/base";
import * as t from "../schema/builders.ts";
import type { Infer, Schema, Sign } from "../schema/node.ts";
import { count, extendedResourceName, quantity } from "../schema/terms.ts";

/** Amounts of extended resources by their Kubernetes name. */
export function extendedQuantities(sign: Sign): Schema<Readonly<Record<string, string>>> {
  return t.record(extendedResourceName(), quantity(sign), MAX_EXTENDED_RESOURCES);
}

/** The same for what is asked for: devices are lent whole. */
export function extendedCounts(): Schema<Readonly<Record<string, string>>> {
  return t.record(extendedResourceName(), count(), MAX_EXTENDED_RESOURCES);
}

/** What a requester may ask for: devices are lent whole. */
export function requestedQuantity({ form }: KnownResource): Schema<string> {
  return form.isCounted ? count() : quantity("non-negative");
}

/** One quantity per resource; cpu and memory are always stated. `main` is what those two may be, `others` the rest. */
function quantitySet(main: Sign, others: Sign) {
  // Fractions in advertised capacity are accepted and rounded down, because older agents send them.
  const isAsked = main === "positive";
  const always = ({ description, examples }: SlotResource) =>
    t.required(quantity(main), `${description}.`, ...examples);
  return t.object({
    ...perResource("name", (resource) => {
      const schema = isAsked ? requestedQuantity(resource) : quantity(others);
      return t.optional(schema, `${resource.description}.`, ...resource.examples);
    }),
    cpu: always(RESOURCE.cpu),
    memory: always(RESOURCE.memory),
    extended: t.optional(
      isAsked ? extendedCounts() : extendedQuantities(others),
      "Other extended resources by their Kubernetes name.",
      { "amd.com/gpu": "1" },
    ),
  });
}

/** What a cluster has: nothing below zero. */
export const resourceQuantitiesSchema = t.titled(
  "ResourceQuantitiesDTO",
  quantitySet("non-negative", "non-negative"),
  "Amounts of each resource, as Kubernetes quantities.",
);
export type ResourceQuantitiesDTO = Infer<typeof resourceQuantitiesSchema>;

/** What someone asks for: some CPU and some memory. */
export const requestedQuantitiesSchema = t.titled(
  "RequestedResourcesDTO",
  quantitySet("positive", "non-negative"),
  "Amounts that are asked for or held: cpu and memory more than 0.",
);

/** Amounts that are only shown: older agents send negative available amounts when they are overcommitted. */
export const shownQuantitiesSchema = t.titled(
  "ShownQuantitiesDTO",
  quantitySet("any", "any"),
  "Amounts that are shown and never decided on; older agents may send negative ones.",
);

/** Amounts of only the resources that matter. */
export const someQuantityFields = {
  ...perResource("name", (resource) =>
    t.optional(requestedQuantity(resource), `${resource.description}.`, ...resource.examples),
  ),
  extended: t.optional(extendedCounts(), "Other extended resources by their Kubernetes name.", {
    "amd.com/gpu": "1",
  }),
};

/** A shortage, or what one node must fit. */
export const someQuantitiesSchema = t.titled(
  "SomeQuantitiesDTO",
  t.object(someQuantityFields, { minProperties: 1 }),
  "Amounts of only the resources that are named.",
);
export type SomeQuantitiesDTO = Infer<typeof someQuantitiesSchema>;

const resourceFields = {
  capacity: t.required(resourceQuantitiesSchema, "All that the counted nodes have."),
  allocatable: t.required(resourceQuantitiesSchema, "What the counted nodes can give to pods."),
  allocated: t.required(
    resourceQuantitiesSchema,
    "Requests of the cluster's own pods. Pods that run for a reservation are counted in usage instead.",
  ),
  used: t.optional(resourceQuantitiesSchema, "Real consumption where metrics.k8s.io is served. Only shown."),
  reserved: t.optional(
    shownQuantitiesSchema,
    "Held by reservations. Computed by the broker; ignored on input.",
  ),
};
const AVAILABLE = "What can still be lent. Computed by the broker; ignored on input.";

/** Shared by the wire and the agents' own Advertisement, so that nothing is ever mapped between them. */
export const resourcesSchema = t.message(
  "ResourcesDTO",
  "What a cluster has, what it uses itself, what it lends and what is left.",
  { ...resourceFields, available: t.required(shownQuantitiesSchema, AVAILABLE) },
);

/** In the broker's cluster, `reserved` and `available` are the broker's fields: an agent leaves both out. */
export const offeredResourcesSchema = t.object({
  ...resourceFields,
  available: t.optional(shownQuantitiesSchema, AVAILABLE),
});
