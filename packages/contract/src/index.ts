export { type Advertisement, advertisementKind } from "./crd/advertisement.ts";
export { type BrokerPolicy, brokerPolicyKind } from "./crd/broker-policy.ts";
export {
  type ClusterAdvertisement,
  clusterAdvertisementKind,
} from "./crd/cluster-advertisement.ts";
export { type Condition, conditionMessage, MAX_EXPLANATION_LENGTH } from "./crd/shared-fields.ts";
export { type CustomResourceDefinition, customResourceDefinition, KINDS } from "./crd/definition.ts";
export type { KubernetesObject, ObjectMeta, OwnerReference } from "@resource-broker/base";
export { apiVersionOf, type Kind } from "./crd/kind.ts";
export {
  AGENT_FIELD_MANAGER,
  BROKER_LEASE,
  clusterAdvertisementName,
  KUBE_ANNOTATION,
  KUBE_LABEL,
  NOBODY,
  RESERVATION_CONDITION,
} from "./crd/protocol.ts";
export { type ProviderInstruction, providerInstructionKind } from "./crd/provider-instruction.ts";
export { RESERVATION_FINALIZER, type Reservation, reservationKind } from "./crd/reservation.ts";
export { type ReservationInstruction, reservationInstructionKind } from "./crd/reservation-instruction.ts";
export { type ResourceRequest, resourceRequestKind } from "./crd/resource-request.ts";
export type { UiAmounts, UiError, UiMoney, UiResource, UiTime } from "./dashboard/common.ts";
export type {
  UiDecisionRow,
  UiDecisions,
  UiQuote,
  UiQuoteRequest,
} from "./dashboard/decisions.ts";
export {
  CLUSTER_SORTS,
  CLUSTER_STATES,
  type ClusterSort,
  type ClusterState,
  type UiCapacity,
  type UiCluster,
  type UiCondition,
  type UiFleet,
  type UiFlow,
  type UiFlows,
} from "./dashboard/fleet.ts";
export {
  HISTORY_WINDOWS,
  type HistoryWindow,
  type UiAudit,
  type UiAuditRow,
  type UiHistory,
  type UiMoneyReport,
  type UiSpend,
  type UiUnmet,
  type UiVerified,
} from "./dashboard/history.ts";
export type { UiDone, UiEvent } from "./dashboard/live.ts";
export {
  RESERVATION_SORTS,
  type ReservationSort,
  type UiParty,
  type UiPhase,
  type UiReservation,
  type UiReservationDetail,
  type UiReservations,
} from "./dashboard/reservations.ts";
export { uiQuoteRequestSchema, type UiRole, type UiSession, uiSignInSchema } from "./dashboard/session.ts";
export { type ErrorReply, Fault, type FaultDetails, readFault, toErrorBody } from "./faults/fault.ts";
export {
  FAULTS,
  type FaultCode,
  type FaultKind,
  faultKind,
  isFaultCode,
  type WireFaultCode,
} from "./faults/fault-table.ts";
export {
  fromReservation,
  reservationMessage,
  type ReservationView,
  toAdoptionOffers,
} from "./mapping/reservation.ts";
export { fromAdvertisement, toAdvertisement } from "./mapping/advertisement.ts";
export { type Mapped, toQuantities } from "./mapping/amounts.ts";
export { formatDecimal, fromCostModel, fromReservationCost, toCostModel } from "./mapping/cost.ts";
export { type Disclosure, fromDecision, refusalDetails, toRefusals } from "./mapping/decision.ts";
export { fromReservationRequest, toReservationRequest } from "./mapping/reservation-request.ts";
export { DEFAULT_SLICE, fromPolicy, parsePolicy, type SliceDefaults } from "./policy/policy-mapping.ts";
export { type PolicyDTO, policySchema } from "./policy/policy-schema.ts";
export { closest } from "./schema/closest.ts";
export { type DurationResult, formatDuration, parseDuration } from "./schema/duration.ts";
export { fitToSchema } from "./schema/fit-to-schema.ts";
export type { Schema } from "./schema/node.ts";
export { describeProblem, describeProblems } from "./schema/problem.ts";
export { formatTime, parseTime } from "./schema/time.ts";
export { validate, validateExactly } from "./schema/validate.ts";
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
export { replaceHidden, safeJson, safeLine, safeText, truncate } from "./text/safe-text.ts";
export { yamlText } from "./text/yaml-text.ts";
export {
  acknowledgementSchema,
  type CapacityEventDTO,
  EVENT_SCHEMAS,
  type EventName,
  type ResetEventDTO,
} from "./wire/instructions.ts";
export {
  type AdoptionReplyDTO,
  type AdoptionRequestDTO,
  type AdoptionWindowDTO,
  adoptionOpeningSchema,
  adoptionReplySchema,
  adoptionRequestSchema,
  adoptionWindowSchema,
} from "./wire/adoption.ts";
export {
  type AdvertisementDTO,
  type AdvertisementPageDTO,
  type AdvertisementReplyDTO,
  advertisementPageSchema,
  advertisementReplySchema,
  advertisementSchema,
} from "./wire/advertisement.ts";
export {
  type AuditEntryDTO,
  type AuditPageDTO,
  auditPageSchema,
  type CordonReplyDTO,
  cordonReplySchema,
  cordonRequestSchema,
  type DashboardLink,
  dashboardLinkRequestSchema,
  dashboardLinkSchema,
  type PolicyReplyDTO,
  policyReplySchema,
} from "./wire/admin.ts";
export { type CostDTO, costSchema, type ReservationCostDTO } from "./wire/cost.ts";
export { type DecisionDTO, decisionSchema, type QuoteDTO, quoteSchema } from "./wire/decision.ts";
export { errorSchema, type RefusalDTO } from "./wire/error.ts";
export { HEADER, LIMIT, PATH, PROTOCOL_VERSION } from "./wire/protocol.ts";
export type { ResourceQuantitiesDTO, SomeQuantitiesDTO } from "./wire/quantities.ts";
export { type ReservationDTO, reservationListSchema, reservationSchema } from "./wire/reservation.ts";
export {
  type ReservationRequestDTO,
  renewRequestSchema,
  reservationRequestSchema,
} from "./wire/reservation-request.ts";
