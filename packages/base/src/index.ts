export type {
  KubernetesContainer,
  KubernetesContainerStatus,
  KubernetesNode,
  KubernetesNodeRequirement,
  KubernetesNodeSelectorTerm,
  KubernetesObject,
  KubernetesPod,
  KubernetesPodSpec,
  KubernetesPodStatus,
  KubernetesTaint,
  ObjectMeta,
  OwnerReference,
  ResourceList,
} from "./kubernetes.ts";
export { lookup } from "./lookup.ts";
export { type AmountOptions, type AmountResult, parseAmount } from "./quantity/amount.ts";
export {
  describeAmount,
  describeAtMost,
  describeResources,
  formatBytes,
  formatCount,
  formatCpu,
} from "./quantity/format-amount.ts";
export {
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  type QuantityResult,
} from "./quantity/quantity.ts";
export { quoted } from "./quantity/quantity-problem.ts";
export {
  formatResources,
  type FormattedResources,
  MAX_EXTENDED_RESOURCES,
  parseRequest,
  parseResources,
  type ResourceProblem,
  type ResourceQuantities,
  type ResourcesResult,
} from "./resources/resource-quantities.ts";
export {
  add,
  amountOf,
  atLeastZero,
  combine,
  equals,
  extendedNames,
  fits,
  isCountable,
  isZero,
  larger,
  NO_RESOURCES,
  type ResourceName,
  type ResourceVector,
  resourceNames,
  resourceVector,
  shortage,
  subtract,
  sum,
} from "./resources/resource-vector.ts";
