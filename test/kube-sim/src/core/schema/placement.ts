import { list, long, oneOf, struct, text, textMap, texts, time, whole } from "./terms.ts";

const REQUIREMENT = struct(
  "A demand on one label.",
  {
    key: text("The label."),
    operator: oneOf(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"], "How the label is compared."),
    values: texts("What it is compared with."),
  },
  ["key", "operator"],
);

const TERM = struct("Demands that must all be met.", {
  matchExpressions: list(REQUIREMENT, "Demands on labels."),
  matchFields: list(REQUIREMENT, "Demands on fields; metadata.name is the only one."),
});

const LABEL_SELECTOR = struct("Chooses objects by their labels.", {
  matchLabels: textMap("Labels they must have."),
  matchExpressions: list(REQUIREMENT, "Demands on labels."),
});

const POD_TERM = struct("Pods to be near to, or far from.", {
  labelSelector: LABEL_SELECTOR,
  matchLabelKeys: texts("Labels of the pod itself that its like must share."),
  mismatchLabelKeys: texts("Labels of the pod itself that its like must not share."),
  namespaces: texts("Where they are looked for."),
  namespaceSelector: LABEL_SELECTOR,
  topologyKey: text("The label of nodes that says what near means."),
});

const POD_AFFINITY = struct("Which pods it wants to be near to, or far from.", {
  requiredDuringSchedulingIgnoredDuringExecution: list(POD_TERM, "What must be met."),
  preferredDuringSchedulingIgnoredDuringExecution: list(
    struct("A wish and its weight.", { weight: whole("1 to 100."), podAffinityTerm: POD_TERM }),
    "What would be nice.",
  ),
});

export const AFFINITY = struct("Which nodes and which neighbours it wants.", {
  nodeAffinity: struct("Which nodes it wants.", {
    requiredDuringSchedulingIgnoredDuringExecution: struct("What must be met.", {
      nodeSelectorTerms: list(TERM, "One of these is enough."),
    }),
    preferredDuringSchedulingIgnoredDuringExecution: list(
      struct("A wish and its weight.", { weight: whole("1 to 100."), preference: TERM }),
      "What would be nice.",
    ),
  }),
  podAffinity: POD_AFFINITY,
  podAntiAffinity: POD_AFFINITY,
});

export const NODE_SELECTOR_LABELS = textMap("Labels that its node must have.");

export const TOLERATION = struct("A taint of nodes that it puts up with.", {
  key: text("The taint; empty with Exists: all."),
  operator: oneOf(["Exists", "Equal"], "Equal unless told otherwise."),
  value: text("The taint's value, with Equal."),
  effect: oneOf(["NoSchedule", "PreferNoSchedule", "NoExecute"], "The taint's effect; empty: all."),
  tolerationSeconds: long("How long it puts up with NoExecute."),
});

export const SPREAD = struct(
  "How evenly pods are spread.",
  {
    maxSkew: whole("By how many pods places may differ."),
    topologyKey: text("The label of nodes that says what a place is."),
    whenUnsatisfiable: text("DoNotSchedule or ScheduleAnyway."),
    labelSelector: LABEL_SELECTOR,
    matchLabelKeys: texts("Labels of the pod itself that its like must share."),
    minDomains: whole("How many places there must be."),
    nodeAffinityPolicy: text("Whether the pod's own demands on nodes count."),
    nodeTaintsPolicy: text("Whether taints count."),
  },
  ["maxSkew", "topologyKey", "whenUnsatisfiable"],
);

export const TAINT = struct(
  "Keeps pods away that do not put up with it.",
  {
    key: text("Its name."),
    value: text("Its value."),
    effect: oneOf(
      ["NoSchedule", "PreferNoSchedule", "NoExecute"],
      "What happens to pods that do not put up with it.",
    ),
    timeAdded: time("When it was put there."),
  },
  ["key", "effect"],
);
