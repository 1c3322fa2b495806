export { createEngine, type EngineDeps, type EngineOptions } from "./engine/create-engine.ts";
export type { Committed, Engine, EngineHealth } from "./engine/engine.ts";
export { type EngineObserver, NO_OBSERVER } from "./engine/engine-observer.ts";
export {
  type BackupOptions,
  backupLedger,
  type RestoreOptions,
  restoreLedger,
} from "./store/sqlite/backup.ts";
export { type SqliteStoreOptions, sqliteStore } from "./store/sqlite/sqlite-store.ts";
export { type Verification, verifyLedger } from "./store/sqlite/verify.ts";
export {
  type AuditEntry,
  type AuditQuery,
  type CommitBatch,
  type CommitEntry,
  type FailureKind,
  type Store,
  type StoreContents,
  StoreFailure,
} from "./store/store.ts";
