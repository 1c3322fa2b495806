/** What the campaigns, benchmarks and tests outside of this package need of its insides. */

export { readQuery } from "../interface/http/query.ts";
export { clusterPage, flowsOf, readClusterQuery } from "../interface/insight/cluster-list.ts";
export { CapacityHistory } from "../interface/insight/history/capacity-history.ts";
export { AdvertisementWatch } from "../interface/insight/live/changed.ts";
export { spendingOf } from "../interface/insight/money.ts";
export { readReservationQuery, reservationLists } from "../interface/insight/reservation-list.ts";
export { idMaker } from "../interface/shared/make-ids.ts";
export { BROKER_SETTINGS } from "../settings/broker-settings.ts";
export { readBrokerSettings } from "../settings/read-settings.ts";
export { auditLines, CHAIN_START, canonical, nextLink } from "../store/common/audit.ts";
export { decisionOf, durableEvents } from "../store/common/changes.ts";
export { encodeDecision } from "../store/common/decision-codec.ts";
export { DEFAULT_RETENTION } from "../store/store.ts";
export { type Cell, sealOf } from "../store/common/seals.ts";
export { kubernetesStore } from "../store/kubernetes/kubernetes-store.ts";
export { LEDGER_LABEL } from "../store/kubernetes/segments.ts";
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
export { readHeader, type SqliteHeader } from "../store/sqlite/read-ledger.ts";
export { advertisedIn } from "./advertised-in.ts";
