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
export { isNamespaceName } from "./kubernetes.ts";
export type { Log, LogFields } from "./log.ts";
export { errorText, isRecord, parseJson } from "./json.ts";
export { lookup } from "./lookup.ts";
export { PROBE_PATH } from "./probe-paths.ts";
export { type AmountOptions, parseAmount } from "./quantity/amount.ts";
export { formatBytes, formatCpu } from "./quantity/format-amount.ts";
export { compareQuantities, formatQuantity, parseQuantity, type Quantity } from "./quantity/quantity.ts";
export { quoted } from "./quantity/quantity-problem.ts";
export { describeAmount, describeAtMost, describeResources } from "./resources/describe-resources.ts";
export {
  type AmountFields,
  type FormattedResources,
  formatResources,
  formatSome,
  MAX_EXTENDED_RESOURCES,
  parseRequest,
  parseResources,
  vectorFrom,
} from "./resources/resource-quantities.ts";
export {
  amountForm,
  FIELD_RESOURCES,
  type KnownName,
  type KnownResource,
  knownResource,
  MAIN_NAMES,
  NAMED_RESOURCES,
  perKnownResource,
  perResource,
  RESOURCE,
  RESOURCES,
  resourceTitle,
  type Slot,
  type SlotResource,
  slotOf,
} from "./resources/resource-table.ts";
export {
  add,
  amountOf,
  atLeastZero,
  combine,
  emptyVector,
  equals,
  exceeds,
  extendedNames,
  fastEquals,
  fits,
  inBaseUnits,
  isCountable,
  isZero,
  larger,
  mapSlots,
  type MutableVector,
  NO_RESOURCES,
  type ResourceName,
  type ResourceVector,
  resourceNames,
  resourceVector,
  SIZE_ORDER,
  SLOTS,
  shortage,
  slotAmounts,
  subtract,
  sum,
  sumOfRests,
  sumOfShares,
  writeSlots,
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
