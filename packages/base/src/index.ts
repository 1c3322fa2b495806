export type { Clock } from "./clock.ts";
export {
  DURATION_MAX_LENGTH,
  DURATION_PATTERN,
  formatDuration,
  POSITIVE_DURATION_PATTERN,
  parseDuration,
} from "./duration.ts";
export {
  FAULTS,
  Fault,
  type FaultCode,
  type FaultDetails,
  faultBody,
  isFaultCode,
  toFault,
  type WireFaultCode,
} from "./fault.ts";
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
export type { Log, LogFields } from "./log.ts";
export { lookup } from "./lookup.ts";
export { PROBE_PATH } from "./probe-paths.ts";
export { type AmountOptions, parseAmount } from "./quantity/amount.ts";
export {
  describeAmount,
  describeAtMost,
  describeResources,
  formatBytes,
  formatCount,
  formatCpu,
} from "./quantity/format-amount.ts";
export { compareQuantities, formatQuantity, parseQuantity, type Quantity } from "./quantity/quantity.ts";
export { quoted } from "./quantity/quantity-problem.ts";
export {
  formatResources,
  MAX_EXTENDED_RESOURCES,
  parseRequest,
  parseResources,
} from "./resources/resource-quantities.ts";
export {
  add,
  amountOf,
  atLeastZero,
  combine,
  equals,
  extendedNames,
  fits,
  inBaseUnits,
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
export { environmentName, helpText, parseSettings } from "./settings/parse-settings.ts";
export {
  choice,
  duration,
  integer,
  list,
  type Setting,
  type SettingResult,
  type SettingsTable,
  text,
  toggle,
  type Values,
} from "./settings/settings.ts";
export { closest } from "./text/closest.ts";
export { replaceHidden, safeJson, safeLine, safeText, truncate } from "./text/safe-text.ts";
export { yamlText } from "./text/yaml-text.ts";
export { formatTime, parseTime, TIME_MAX_LENGTH } from "./time.ts";
