/** What the campaigns, benchmarks and tests outside of this package need of its insides. */

export { CapacityHistory } from "../interface/dashboard/history/capacity-history.ts";
export { clusterPage, readClusterQuery } from "../interface/dashboard/lists/cluster-list.ts";
export { readReservationQuery, reservationLists } from "../interface/dashboard/lists/reservation-list.ts";
export { AdvertisementWatch } from "../interface/dashboard/live/advertisement-watch.ts";
export { moneyReport } from "../interface/dashboard/money.ts";
export { flowView } from "../interface/dashboard/views/flow-view.ts";
export { idMaker } from "../interface/shared/make-ids.ts";
export { BROKER_SETTINGS } from "../settings/broker-settings.ts";
export { readBrokerSettings } from "../settings/read-settings.ts";
export { auditLines, CHAIN_START, canonical, nextLink } from "../store/common/audit.ts";
export { decisionOf, durableEvents } from "../store/common/changes.ts";
export { encodeDecision } from "../store/common/decision-codec.ts";
export { DEFAULT_RETENTION } from "../store/common/retention.ts";
export { type Cell, sealOf } from "../store/common/seal.ts";
export { kubernetesStore } from "../store/kubernetes/kubernetes-store.ts";
export { LEDGER_LABEL } from "../store/kubernetes/segment.ts";
export {
  brokerDefinitions,
  type LedgerServer,
  realServer,
  simulatedServer,
  type TestLedger,
} from "../store/kubernetes/testing/test-ledger.ts";
export { readAddress } from "../store/postgres/address.ts";
export { postgresStore } from "../store/postgres/postgres-store.ts";
export { ledgerFileIn, openForReading } from "../store/sqlite/database.ts";
export { openLedgerFile } from "../store/sqlite/ledger-file.ts";
export type { SqliteHeader } from "../store/sqlite/ledger-header.ts";
export { readHeader } from "../store/sqlite/read-ledger.ts";
export { advertisedIn } from "./advertised-in.ts";
