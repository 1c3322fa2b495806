export type { UiAmounts, UiError, UiMoney, UiResource, UiTime } from "./common.ts";
export type { UiDecisionRow, UiDecisions, UiQuote, UiQuoteRequest } from "./decisions.ts";
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
} from "./fleet.ts";
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
} from "./history.ts";
export type { UiDone, UiEvent } from "./live.ts";
export {
  RESERVATION_SORTS,
  type ReservationSort,
  type UiParty,
  type UiPhase,
  type UiReservation,
  type UiReservationDetail,
  type UiReservations,
} from "./reservations.ts";
export { type UiRole, type UiSession, uiQuoteRequestSchema, uiSignInSchema } from "./session.ts";
