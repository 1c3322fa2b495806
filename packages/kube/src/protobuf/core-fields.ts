import type { MessageFields } from "./fields.ts";

/** Of a condition of a pod or a node: what it says, not when and why it was written. */
const CONDITION_FIELDS: MessageFields = {
  1: { name: "type", kind: "string", isKeptWhenZero: true },
  2: { name: "status", kind: "string", isKeptWhenZero: true },
  5: { name: "reason", kind: "string" },
};

const RESOURCES: MessageFields = {
  2: { name: "requests", kind: "quantity-map" },
};

const CONTAINER: MessageFields = {
  1: { name: "name", kind: "string", isKeptWhenZero: true },
  8: { name: "resources", kind: { message: RESOURCES } },
  24: { name: "restartPolicy", kind: "string", isKeptWhenZero: true },
};

const REQUIREMENT: MessageFields = {
  1: { name: "key", kind: "string", isKeptWhenZero: true },
  2: { name: "operator", kind: "string", isKeptWhenZero: true },
  3: { name: "values", kind: "string", isRepeated: true },
};

const SELECTOR_TERM: MessageFields = {
  1: { name: "matchExpressions", kind: { message: REQUIREMENT }, isRepeated: true },
  2: { name: "matchFields", kind: { message: REQUIREMENT }, isRepeated: true },
};

const NODE_SELECTOR: MessageFields = {
  1: { name: "nodeSelectorTerms", kind: { message: SELECTOR_TERM }, isRepeated: true },
};

const NODE_AFFINITY: MessageFields = {
  1: { name: "requiredDuringSchedulingIgnoredDuringExecution", kind: { message: NODE_SELECTOR } },
};

const AFFINITY: MessageFields = {
  1: { name: "nodeAffinity", kind: { message: NODE_AFFINITY } },
};

const SCHEDULING_GATE: MessageFields = {
  1: { name: "name", kind: "string", isKeptWhenZero: true },
};

const POD_SPEC: MessageFields = {
  2: { name: "containers", kind: { message: CONTAINER }, isRepeated: true },
  7: { name: "nodeSelector", kind: "string-map" },
  10: { name: "nodeName", kind: "string", isUnique: true },
  18: { name: "affinity", kind: { message: AFFINITY } },
  20: { name: "initContainers", kind: { message: CONTAINER }, isRepeated: true },
  32: { name: "overhead", kind: "quantity-map" },
  38: { name: "schedulingGates", kind: { message: SCHEDULING_GATE }, isRepeated: true },
  40: { name: "resources", kind: { message: RESOURCES } },
};

const CONTAINER_STATUS: MessageFields = {
  1: { name: "name", kind: "string", isKeptWhenZero: true },
  10: { name: "allocatedResources", kind: "quantity-map" },
  11: { name: "resources", kind: { message: RESOURCES } },
};

const POD_STATUS: MessageFields = {
  1: { name: "phase", kind: "string" },
  2: {
    name: "conditions",
    kind: { message: CONDITION_FIELDS },
    isRepeated: true,
    only: ["PodResizePending"],
  },
  8: { name: "containerStatuses", kind: { message: CONTAINER_STATUS }, isRepeated: true },
  10: { name: "initContainerStatuses", kind: { message: CONTAINER_STATUS }, isRepeated: true },
};

/**
 * What is read of a Pod: the fields of `KubernetesPod`, and what names the pod. `labels` names the labels that are read;
 * without it all are, and a large cluster has a million on its pods alone.
 */
export function podFields(labels?: readonly string[]): MessageFields {
  return {
    1: { name: "metadata", kind: { message: metadataFields(labels) } },
    2: { name: "spec", kind: { message: POD_SPEC } },
    3: { name: "status", kind: { message: POD_STATUS } },
  };
}

export const POD_FIELDS: MessageFields = podFields();

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

/** What is read of a Node: the fields of `KubernetesNode`, and what names it. `labels` as for pods. */
export function nodeFields(labels?: readonly string[]): MessageFields {
  return {
    1: { name: "metadata", kind: { message: metadataFields(labels) } },
    2: { name: "spec", kind: { message: NODE_SPEC } },
    3: { name: "status", kind: { message: NODE_STATUS } },
  };
}

export const NODE_FIELDS: MessageFields = nodeFields();

/** Of an object's metadata: what names it, and its labels, or only those that the caller looks at. */
function metadataFields(labels: readonly string[] | undefined): MessageFields {
  return {
    1: { name: "name", kind: "string", isUnique: true },
    3: { name: "namespace", kind: "string" },
    5: { name: "uid", kind: "string", isUnique: true },
    6: { name: "resourceVersion", kind: "string", isUnique: true },
    9: { name: "deletionTimestamp", kind: "time" },
    11: { name: "labels", kind: "string-map", ...(labels === undefined ? {} : { only: labels }) },
  };
}
