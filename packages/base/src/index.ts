export type { Clock } from "./clock.ts";
export {
  DURATION_MAX_LENGTH,
  DURATION_PATTERN,
  type DurationResult,
  formatDuration,
  parseDuration,
  POSITIVE_DURATION_PATTERN,
} from "./duration.ts";
export {
  Fault,
  FAULTS,
  type FaultCode,
  type FaultDetails,
  type FaultKind,
  faultBody,
  faultKind,
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
export {
  environmentName,
  type HelpOptions,
  helpText,
  parseSettings,
  type SettingSources,
  type SettingsResult,
} from "./settings/parse-settings.ts";
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
