import { array, integer, matching, object, oneOf, optional, prose, required } from "../schema/builders.ts";
import { fitToSchema } from "../schema/fit-to-schema.ts";
import type { Infer } from "../schema/node.ts";
import { count, quantity, reservationName, time } from "../schema/terms.ts";
import { extendedCounts } from "../wire/quantities.ts";
import {
  generationSchema,
  MAX_MESSAGE_LENGTH,
  SLICE_DEFAULTS_TEXT,
  sliceDefaultsSchema,
} from "../wire/reservation.ts";

const CONDITION_TYPE =
  "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$";
const CONDITION_REASON = "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$";

const messageSchema = prose({ maxLength: 32_768 });

/** Truncates a text to the length of a condition message. */
export function conditionMessage(text: string): string {
  return fitToSchema(messageSchema, text);
}

/** The shape every Kubernetes tool knows: `kubectl wait --for=condition=Ready` works on it. */
const conditionSchema = object({
  type: required(
    matching(CONDITION_TYPE, "a condition type in CamelCase", { maxLength: 316 }),
    "What is said.",
    {
      examples: ["Ready"],
    },
  ),
  status: required(oneOf("True", "False", "Unknown"), "Whether it holds.", { examples: ["True"] }),
  observedGeneration: optional(
    integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    "The generation of the spec this was said about; lower than metadata.generation: not up to date.",
    { examples: [1] },
  ),
  lastTransitionTime: required(time(), "When the status last changed.", {
    examples: ["2026-07-01T10:00:00Z"],
  }),
  reason: required(
    matching(CONDITION_REASON, "a reason in CamelCase", { minLength: 1, maxLength: 1024 }),
    "Why, in one CamelCase word, for machines.",
    { examples: ["Granted"] },
  ),
  message: required(messageSchema, "Why, in words, for people.", {
    examples: ["paris lends 4 CPU / 8Gi Memory"],
  }),
});
export type Condition = Infer<typeof conditionSchema>;

/** One condition of each type; several writers may each own some of them. */
const conditionsSchema = array(conditionSchema, { maxItems: 32, listKeys: ["type"] });

/** Of the text that says why a request was refused, cluster by cluster. */
export const MAX_EXPLANATION_LENGTH = 16_384;

/** What is asked for or held, in the flat form people write in YAML. */
export const requestedFields = {
  requestedCPU: required(quantity("positive"), "CPU in cores (2, 0.5) or millicores (500m); more than 0.", {
    examples: ["500m", "2"],
  }),
  requestedMemory: required(
    quantity("positive"),
    "Memory in bytes, with a unit such as Mi or Gi; more than 0.",
    {
      examples: ["512Mi", "8Gi"],
    },
  ),
  requestedGPU: optional(count(), "Number of GPUs, whole ones.", { examples: ["1"] }),
  requestedStorage: optional(
    quantity("non-negative"),
    "Ephemeral storage in bytes, with a unit such as Gi.",
    {
      examples: ["20Gi"],
    },
  ),
  extended: optional(extendedCounts(), "Other extended resources by their Kubernetes name."),
};

/** What every instruction tells an agent about its reservation. */
export const instructionFields = {
  reservationName: required(reservationName(), "The reservation this is about.", {
    examples: ["rsv-rome-k3u7dq2hvmx5b4ta"],
    lock: "immutable",
  }),
  ...requestedFields,
  // A later policy must not change a slice that runs.
  sliceDefaults: optional(sliceDefaultsSchema, SLICE_DEFAULTS_TEXT, { lock: "immutable" }),
  message: optional(prose({ maxLength: MAX_MESSAGE_LENGTH }), "The instruction in words."),
  expiresAt: optional(time(), "When the reservation ends by itself. Absent: when it is released.", {
    examples: ["2026-07-01T11:30:00Z"],
  }),
  generation: optional(generationSchema, "The broker's count of changes; a lower or equal one is old news.", {
    examples: [1],
  }),
} as const;

/** What every status has. */
export const statusFields = {
  message: optional(prose({ maxLength: MAX_MESSAGE_LENGTH }), "The state in words."),
  lastUpdateTime: optional(time(), "When this status was last written.", {
    examples: ["2026-07-01T10:00:00Z"],
  }),
  observedGeneration: optional(
    integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    "The generation of the spec this status is about.",
    { examples: [1] },
  ),
  conditions: optional(
    conditionsSchema,
    "What is known in detail, in the shape every Kubernetes tool reads.",
  ),
};
