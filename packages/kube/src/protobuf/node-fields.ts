import { NODE_LABELS } from "@resource-broker/domain";
import type { MessageFields } from "./fields.ts";
import { CONDITION_FIELDS, metadataFields } from "./pod-fields.ts";

const TAINT: MessageFields = {
  1: { name: "key", kind: "string", isKeptWhenZero: true },
  2: { name: "value", kind: "string" },
  3: { name: "effect", kind: "string", isKeptWhenZero: true },
};

const NODE_SPEC: MessageFields = {
  4: { name: "unschedulable", kind: "bool" },
  5: { name: "taints", kind: { message: TAINT }, isRepeated: true },
};

const NODE_STATUS: MessageFields = {
  1: { name: "capacity", kind: "quantity-map" },
  2: { name: "allocatable", kind: "quantity-map" },
  4: { name: "conditions", kind: { message: CONDITION_FIELDS }, isRepeated: true, only: ["Ready"] },
};

/** What is read of a Node: as much of the domain's `KubernetesNode` as the accounting looks at, and what names it. */
export const NODE_FIELDS: MessageFields = {
  1: { name: "metadata", kind: { message: metadataFields(NODE_LABELS) } },
  2: { name: "spec", kind: { message: NODE_SPEC } },
  3: { name: "status", kind: { message: NODE_STATUS } },
};
