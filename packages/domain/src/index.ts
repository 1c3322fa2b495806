export {
  type Advertisement,
  CURRENT_PROTOCOL,
  type GpuModel,
  type LiqoIdentity,
  MAX_GPU_MODELS,
  MAX_NODE_SHAPES,
  MAX_RESERVATIONS_PER_PROVIDER,
  MAX_RESERVATIONS_PER_REQUESTER,
  type NodeShape,
  REGION_LABEL,
  type ReservationUsage,
} from "./advertisement/advertisement.ts";
export {
  classifyPod,
  type ClusterView,
  IGNORED_REASONS,
  type IgnoredReason,
  type LiveReservation,
  type NodeKind,
  PENDING_REASONS,
  type PendingReason,
  type PodClass,
} from "./cluster/classify-pod.ts";
export {
  type ClusterSums,
  type ClusterSumsOptions,
  type ClusterTotals,
  clusterSums,
  type ObservedNode,
} from "./cluster/cluster-sums.ts";
export {
  type NodeVerdict,
  nodeVerdict,
  parseToleratedTaint,
  type ToleratedTaint,
  type ToleratedTaintResult,
  UNCOUNTED_NODE_REASONS,
  type UncountedNodeReason,
} from "./cluster/counted-node.ts";
export {
  type CountedResourceOptions,
  type CountedResources,
  countedResources,
  DEFAULT_COUNTED_RESOURCES,
} from "./cluster/counted-resources.ts";
export type { KubernetesNode, KubernetesPod } from "./cluster/kubernetes.ts";
export { GUEST_LABELS } from "./cluster/liqo-labels.ts";
export {
  clusterLabels,
  gpuModels,
  NODE_LABELS,
  type NodeFacts,
  nodeFacts,
  type NodeReading,
  type Taint,
  ZONE_LABEL,
} from "./cluster/node.ts";
export { nodeShapes } from "./cluster/node-shapes.ts";
export { type GuestFacts, type PodFacts, type PodReading, podFacts, podKey } from "./cluster/pod.ts";
export { type PodRequest, podRequest } from "./cluster/pod-request.ts";
export type { GuestUsage, PendingShown } from "./cluster/pod-totals.ts";
export { type CostModel, type PriceWindow, type Tier, TIERS, type UnitPrices } from "./cost/cost-model.ts";
export { hourlyPrice, priceQueryFor, totalPrice, UNPRICED } from "./cost/price.ts";
export type { Candidate, Cordon } from "./scheduling/candidate.ts";
export { chooseProvider } from "./scheduling/choose-provider.ts";
export {
  type CandidateRecord,
  type CandidateRefusal,
  type Decision,
  refusalsOf,
  type RefusedOutcome,
  type ScoredOutcome,
  withoutAmounts,
} from "./scheduling/decision.ts";
export { explain, flipOf, headline } from "./scheduling/explain.ts";
export { FILTER_NAMES, type FilterName, type Refusal, type SchedulingContext } from "./scheduling/filters.ts";
export {
  DEFAULT_POLICY,
  type LendingPolicy,
  type LendingRule,
  type Policy,
  type PricePolicy,
  type Quota,
  type ResourceLimits,
} from "./scheduling/policy.ts";
export { replayWinner } from "./scheduling/record-decision.ts";
export type { CandidateTableView } from "./scheduling/candidate-table.ts";
export type { CandidateStats, ScoreInputs, ScoreParts } from "./scheduling/scorers.ts";
export { type AccountView, type ReceivedAdvertisement, receivedFrom } from "./ledger/account.ts";
export {
  type AdoptionOffer,
  type AdoptionWindow,
  initialAdoptionWindow,
  isAdoptionOpen,
} from "./ledger/adoption-window.ts";
export { apply } from "./ledger/apply.ts";
export {
  type Actor,
  type Command,
  type DecisionContext,
  type Outcome,
  REJECTION_CODES,
  type RejectionCode,
  type Reply,
  type SetAdoptionWindow,
} from "./ledger/command.ts";
export type { Deadline } from "./ledger/deadlines.ts";
export { decide } from "./ledger/decide.ts";
export { isSameRequest } from "./ledger/decide-reserve.ts";
export { type ClosedKey, isSoft, type LedgerEvent } from "./ledger/event.ts";
export { ENDED_RETENTION_MS } from "./ledger/evolve.ts";
export { cloneLedger, emptyLedger, keyName, type Ledger, type LedgerView } from "./ledger/ledger.ts";
export { mustBeDurable } from "./ledger/must-be-durable.ts";
export { type LedgerRecords, ledgerFrom, recordsOf } from "./ledger/records.ts";
export { type AmountOptions, type AmountResult, parseAmount } from "./quantity/amount.ts";
export {
  describeAmount,
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
export {
  CLUSTER_ID_FORM,
  CLUSTER_ID_MAX_LENGTH,
  CLUSTER_ID_PATTERN,
  type ClusterId,
  type DecisionId,
  DNS_SUBDOMAIN,
  type Instant,
  isClusterId,
  type ReservationId,
  reservationId,
} from "./reservation/ids.ts";
export {
  type EndReason,
  FAILURE_REASONS,
  type FailureReason,
  isFinal,
  isLive,
  type LifecycleEvent,
  nextPhase,
  type Phase,
  PHASES,
  RELEASE_REASONS,
  type ReleaseReason,
} from "./reservation/lifecycle.ts";
export type {
  Constraints,
  Reservation,
  ReservationCost,
  ReservationRequest,
} from "./reservation/reservation.ts";
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
  equals,
  fits,
  isZero,
  larger,
  NO_RESOURCES,
  type ResourceName,
  type ResourceVector,
  resourceNames,
  resourceVector,
  subtract,
  sum,
} from "./resources/resource-vector.ts";
