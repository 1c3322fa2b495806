import { array, integer, matching, object, oneOf, optional, prose, required } from "../schema/builders.ts";
import { fitToSchema } from "../schema/fitted.ts";
import type { Infer } from "../schema/node.ts";
import { time } from "../schema/terms.ts";

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
export const conditionsSchema = array(conditionSchema, { maxItems: 32, listKeys: ["type"] });
