export type { KubernetesObject, ObjectMeta, OwnerReference } from "@resource-broker/base";
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
