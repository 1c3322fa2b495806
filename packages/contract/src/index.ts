export { fromAdvertisement, toAdvertisement } from "./mapping/advertisement.ts";
export { type Mapped, toQuantities } from "./mapping/amounts.ts";
export { formatDecimal, fromCostModel, fromReservationCost, toCostModel } from "./mapping/cost.ts";
export { type Disclosure, fromDecision, refusalDetails, toRefusals } from "./mapping/decision.ts";
export { type ErrorReply, readFault, toErrorBody } from "./mapping/fault.ts";
export {
  fromReservation,
  type ReservationView,
  reservationMessage,
  toAdoptionOffers,
} from "./mapping/reservation.ts";
export { fromTenantStatus } from "./mapping/tenant.ts";
export { fromWaiting, isPlaceNews } from "./mapping/waiting.ts";
export { present } from "./mapping/present.ts";
export {
  fromReservationRequest,
  toMilliseconds,
  toReservationRequest,
} from "./mapping/reservation-request.ts";
export { DEFAULT_SLICE, fromPolicy, parsePolicy, type SliceDefaults } from "./policy/policy-mapping.ts";
export { fitToSchema } from "./schema/fit-to-schema.ts";
export type { Schema } from "./schema/node.ts";
export { describeProblem, describeProblems } from "./schema/problem.ts";
export { validate, validateExactly } from "./schema/validate.ts";
export {
  type AdoptionWindowDTO,
  type AdvertisementPageDTO,
  type AuditChainDTO,
  type AuditEntryDTO,
  type AuditPageDTO,
  adoptionOpeningSchema,
  adoptionWindowSchema,
  advertisementPageSchema,
  auditPageSchema,
  type CordonReplyDTO,
  cordonReplySchema,
  cordonRequestSchema,
  type DrainReplyDTO,
  drainReplySchema,
  drainRequestSchema,
  type DashboardLink,
  dashboardLinkRequestSchema,
  dashboardLinkSchema,
  type PolicyReplyDTO,
  policyReplySchema,
} from "./wire/admin.ts";
export {
  type AdoptionReplyDTO,
  type AdoptionRequestDTO,
  adoptionReplySchema,
  adoptionRequestSchema,
} from "./wire/adoption.ts";
export {
  type AdvertisementDTO,
  type AdvertisementReplyDTO,
  advertisementReplySchema,
  advertisementSchema,
} from "./wire/advertisement.ts";
export type { AmountsDTO } from "./wire/amounts.ts";
export { type CostDTO, costSchema, type ReservationCostDTO } from "./wire/cost.ts";
export { type DecisionDTO, decisionSchema, type QuoteDTO, quoteSchema } from "./wire/decision.ts";
export { errorSchema, type RefusalDTO } from "./wire/error.ts";
export {
  type CapacityHistoryDTO,
  type ChangesEventDTO,
  type DecisionPageDTO,
  type DecisionSummaryDTO,
  type DemandHistoryDTO,
  type FlowsDTO,
  MAX_CHANGES,
  type SpendingDTO,
  type TimelineDTO,
} from "./wire/insight.ts";
export {
  acknowledgementSchema,
  type CapacityEventDTO,
  EVENT_SCHEMAS,
  type EventName,
  type ResetEventDTO,
} from "./wire/instructions.ts";
export {
  CLUSTER_SORTS,
  CLUSTER_STATES,
  type ClusterSort,
  type ClusterState,
  COUNTED_RESOURCES,
  HISTORY_WINDOWS,
  type HistoryWindow,
  OUTCOMES,
  PHASE_GROUPS,
  QUEUE_SORTS,
  type QueueSort,
  REFUSED_SORTS,
  type RefusedSort,
  RESERVATION_SORTS,
  type ReservationSort,
} from "./wire/list-options.ts";
export { HEADER, LIMIT, PATH, PROTOCOL_VERSION } from "./wire/protocol.ts";
export type { ResourceQuantitiesDTO, SomeQuantitiesDTO } from "./wire/quantities.ts";
export { type ReservationDTO, reservationListSchema, reservationSchema } from "./wire/reservation.ts";
export {
  type ReservationRequestDTO,
  renewRequestSchema,
  reservationRequestSchema,
} from "./wire/reservation-request.ts";
export {
  type DemandDTO,
  demandSchema,
  type RefusedPageDTO,
  type RefusedRequestDTO,
  refusedPageSchema,
} from "./wire/demand.ts";
export { type TenantPageDTO, type TenantDTO, tenantPageSchema, tenantSchema } from "./wire/tenant.ts";
export {
  type QueuePageDTO,
  queuePageSchema,
  type WaitingRequestDTO,
  waitingRequestSchema,
} from "./wire/waiting.ts";
export { type SessionDTO, signInSchema } from "./wire/session.ts";
export {
  acceptanceSchema,
  type CertificateReplyDTO,
  type CertificateRequestDTO,
  certificateReplySchema,
  certificateRequestSchema,
  type EnrollmentDTO,
  enrollmentSchema,
  evictionSchema,
  formatToken,
  IDENTITY_SECRET,
  type InvitationRequestDTO,
  invitationRequestSchema,
  JOIN_SECRET,
  type JoinToken,
  type MemberDTO,
  memberListSchema,
  memberSchema,
  parseToken,
  SIGNED_TEXT,
  type TrustDTO,
  trustSchema,
} from "./wire/join.ts";
export {
  type PeerStatementDTO,
  peerStatementListSchema,
  peerStatementSchema,
  STATEMENT_TYPE,
  type Statement,
  statementRequestSchema,
  statementSchema,
} from "./wire/statement.ts";
