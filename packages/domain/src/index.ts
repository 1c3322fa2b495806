export {
  type Advertisement,
  CALLS_PROTOCOL,
  type GpuModel,
  MARKET_PROTOCOL,
  MAX_GPU_MODELS,
  MAX_NODE_SHAPES,
  MAX_RESERVATIONS_PER_PROVIDER,
  MAX_RESERVATIONS_PER_REQUESTER,
  type NodeShape,
  REGION_LABEL,
  type ReservationUsage,
} from "./advertisement/advertisement.ts";
export { type CostModel, type PriceWindow, TIERS, type UnitPrices } from "./cost/cost-model.ts";
export { hourlyPrice, priceQueryFor } from "./cost/price.ts";
export { type AccountView, type ReceivedAdvertisement, receivedFrom } from "./ledger/account.ts";
export {
  type AdoptionOffer,
  type AdoptionWindow,
  initialAdoptionWindow,
  isAdoptionOpen,
} from "./ledger/adoption-window.ts";
export { apply, ENDED_RETENTION_MS } from "./ledger/apply.ts";
export type {
  Actor,
  Command,
  DecisionContext,
  Drain,
  Outcome,
  Reply,
  Reserve,
  SetAdoptionWindow,
  SetCordon,
} from "./ledger/command.ts";
export { decide } from "./ledger/decide.ts";
export { isSameRequest } from "./ledger/decide-reserve.ts";
export { type ClosedKey, isSoft, type LedgerEvent, type MemberEvent, memberIn } from "./ledger/event.ts";
export {
  cloneLedger,
  emptyLedger,
  isSettledAt,
  keyName,
  type Ledger,
  type LedgerView,
  unsettle,
} from "./ledger/ledger.ts";
export {
  type Invitation,
  isEvicted,
  MAX_INVITATION_MS,
  MAX_MEMBERS,
  type Member,
  memberOfToken,
  memberState,
} from "./ledger/member.ts";
export { liqoHolderOf } from "./ledger/liqo-claims.ts";
export { mustBeDurable } from "./ledger/must-be-durable.ts";
export { type LedgerRecords, ledgerFrom, spareFor } from "./ledger/records.ts";
export { type ClosedDay, dateOf, MICRO_UNITS, type UtcDay, utcDay } from "./queue/charges.ts";
export { committedOn } from "./queue/closed-days.ts";
export {
  explainWaiting,
  type QueuePlace,
  queuePlaces,
  WAITING_REASONS,
  type WaitingReason,
} from "./queue/queue-place.ts";
export { replayQueue } from "./queue/queue-record.ts";
export { shareOf } from "./queue/order.ts";
export { type TenantStatus, tenantStatuses } from "./queue/tenant-status.ts";
export { tenantOf } from "./queue/tenants.ts";
export type { Nomination, Waiting, WaitingView } from "./queue/waiting.ts";
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
  reservationNameFor,
} from "./reservation/ids.ts";
export {
  type EndReason,
  FAILURE_REASONS,
  isFinal,
  isLive,
  PHASES,
  type Phase,
  RELEASE_REASONS,
  type ReleaseReason,
} from "./reservation/lifecycle.ts";
export {
  type Constraints,
  type Reservation,
  type ReservationCost,
  type ReservationRequest,
  requestFingerprint,
} from "./reservation/reservation.ts";
export { isDrained } from "./reservation/under-notice.ts";
export type { Cordon, Kept } from "./scheduling/candidate-table.ts";
export {
  type CandidateRecord,
  type CandidateRefusal,
  type Decision,
  type NoticeOption,
  type NoticeRecord,
  type RefusedOutcome,
  refusalsOf,
  type ScoredOutcome,
  UNMET_REASONS,
  type UnmetReason,
  unmetReason,
  withoutAmounts,
} from "./scheduling/decision.ts";
export { explain, flipOf, headline } from "./scheduling/explain.ts";
export { FILTER_NAMES, type FilterName } from "./scheduling/filters.ts";
export {
  DEFAULT_POLICY,
  DEFAULT_TENANT,
  type Policy,
  type PreemptionPolicy,
  type PricePolicy,
  type QueuePolicy,
  type Quota,
  type Tenant,
} from "./scheduling/policy.ts";
export { replayWinner } from "./scheduling/record-decision.ts";
export type { CandidateStats } from "./scheduling/scorers.ts";
