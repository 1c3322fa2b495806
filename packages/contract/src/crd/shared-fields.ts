import { perResource, RESOURCE, type SlotResource } from "@resource-broker/base";
import { present } from "../mapping/present.ts";
import * as t from "../schema/builders.ts";
import type { ObjectOf } from "../schema/builders.ts";
import { fitToSchema } from "../schema/fit-to-schema.ts";
import type { Infer } from "../schema/node.ts";
import { quantity, reservationName, time } from "../schema/terms.ts";
import { extendedCounts, type ResourceQuantitiesDTO, requestedQuantity } from "../wire/quantities.ts";
import {
  endReasonSchema,
  generationSchema,
  MAX_MESSAGE_LENGTH,
  SLICE_DEFAULTS_TEXT,
  sliceDefaultsSchema,
} from "../wire/reservation.ts";

const CONDITION_TYPE =
  "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$";
const CONDITION_REASON = "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$";

const messageSchema = t.prose(32_768);

/** Truncates a text to the length of a condition message. */
export function conditionMessage(text: string): string {
  return fitToSchema(messageSchema, text);
}

/** The shape every Kubernetes tool knows: `kubectl wait --for=condition=Ready` works on it. */
const conditionSchema = t.object({
  type: t.required(
    t.matching(CONDITION_TYPE, "a condition type in CamelCase", { maxLength: 316 }),
    "What is said.",
    "Ready",
  ),
  status: t.required(t.oneOf("True", "False", "Unknown"), "Whether it holds.", "True"),
  observedGeneration: t.optional(
    t.count(),
    "The generation of the spec this was said about; lower than metadata.generation: not up to date.",
    1,
  ),
  lastTransitionTime: t.required(time(), "When the status last changed.", "2026-07-01T10:00:00Z"),
  reason: t.required(
    t.matching(CONDITION_REASON, "a reason in CamelCase", { minLength: 1, maxLength: 1024 }),
    "Why, in one CamelCase word, for machines.",
    "Granted",
  ),
  message: t.required(messageSchema, "Why, in words, for people.", "paris lends 4 CPU / 8Gi Memory"),
});
export type Condition = Infer<typeof conditionSchema>;

/** One condition of each type; several writers may each own some of them. */
const conditionsSchema = t.array(conditionSchema, 32, { listKeys: ["type"] });

/** Of the text that says why a request was refused, cluster by cluster. */
export const MAX_EXPLANATION_LENGTH = 16_384;

export const explanationField = t.optional(
  t.prose(MAX_EXPLANATION_LENGTH),
  "Why the request was refused, cluster by cluster.",
);

export const tenantField = t.optional(
  t.nonEmptyLine(253),
  "The tenant that the request counts for, by the broker's policy.",
  "ml",
);

/** From when to when something is reserved, and why no longer. */
export const lifetimeFields = {
  reason: t.optional(endReasonSchema, "Why it ended.", "Expired"),
  reservedAt: t.optional(time(), "When the resources were locked.", "2026-07-01T10:00:00Z"),
  expiresAt: t.optional(time(), "When it ends by itself.", "2026-07-01T11:30:00Z"),
};

function alwaysRequested({ description, examples }: SlotResource) {
  return t.required(quantity("positive"), `${description}; more than 0.`, ...examples);
}

/** What is asked for or held, in the flat form people write in YAML. */
export const requestedFields = {
  ...perResource("requestField", (resource) =>
    t.optional(requestedQuantity(resource), `${resource.description}.`, ...resource.examples),
  ),
  requestedCPU: alwaysRequested(RESOURCE.cpu),
  requestedMemory: alwaysRequested(RESOURCE.memory),
  extended: t.optional(extendedCounts(), "Other extended resources by their Kubernetes name."),
};

type RequestedFields = ObjectOf<typeof requestedFields>;

/** The flat fields as a set of quantities. */
export function quantitiesFrom(spec: RequestedFields): ResourceQuantitiesDTO {
  const { requestedCPU: cpu, requestedMemory: memory, extended } = spec;
  return {
    ...present({ ...perResource("name", ({ requestField }) => spec[requestField]), extended }),
    cpu,
    memory,
  };
}

/** A set of quantities as flat fields. */
export function requestedFieldsOf(quantities: ResourceQuantitiesDTO): RequestedFields {
  const { cpu: requestedCPU, memory: requestedMemory, extended } = quantities;
  const fields = perResource("requestField", ({ name }) => quantities[name]);
  return { ...present({ ...fields, extended }), requestedCPU, requestedMemory };
}

/** What every instruction tells an agent about its reservation. */
export const instructionFields = {
  reservationName: t.immutable(
    t.required(reservationName(), "The reservation this is about.", "rsv-rome-k3u7dq2hvmx5b4ta"),
  ),
  ...requestedFields,
  // A later policy must not change a slice that runs.
  sliceDefaults: t.immutable(t.optional(sliceDefaultsSchema, SLICE_DEFAULTS_TEXT)),
  message: t.optional(t.prose(MAX_MESSAGE_LENGTH), "The instruction in words."),
  expiresAt: t.optional(
    time(),
    "When the reservation ends by itself. Absent: when it is released.",
    "2026-07-01T11:30:00Z",
  ),
  generation: t.optional(
    generationSchema,
    "The broker's count of changes; a lower or equal one is old news.",
    1,
  ),
} as const;

/** What every status has. */
export const statusFields = {
  message: t.optional(t.prose(MAX_MESSAGE_LENGTH), "The state in words."),
  lastUpdateTime: t.optional(time(), "When this status was last written.", "2026-07-01T10:00:00Z"),
  observedGeneration: t.optional(t.count(), "The generation of the spec this status is about.", 1),
  conditions: t.optional(
    conditionsSchema,
    "What is known in detail, in the shape every Kubernetes tool reads.",
  ),
};
