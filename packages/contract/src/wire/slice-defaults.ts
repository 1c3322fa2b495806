import { integer, object, required } from "../schema/builders.ts";
import { quantity } from "../schema/terms.ts";

/** What a virtual node gets beyond what was reserved, as the broker tells its agents. */
export const sliceDefaultsSchema = object({
  pods: required(integer({ minimum: 1, maximum: 100_000 }), "Pods the virtual node may run.", {
    examples: [110],
  }),
  ephemeralStorage: required(
    quantity("positive"),
    "Ephemeral storage of the virtual node, where the request states none.",
    { examples: ["20Gi"] },
  ),
});

/** Of a field of this schema, wherever it is. */
export const SLICE_DEFAULTS_TEXT =
  "What the virtual node gets beyond what was reserved: the policy's sliceDefaults. Absent: 110 pods and 20Gi.";
