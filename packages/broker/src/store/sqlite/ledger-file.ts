import type { DatabaseSync } from "node:sqlite";
import type { Decision, DecisionId, ReceivedAdvertisement } from "@resource-broker/domain";
import { auditLines } from "../common/audit.ts";
import { durableEvents, latestOf } from "../common/changes.ts";
import { contradictionIn } from "../common/contradiction.ts";
import type { Retention } from "../common/retention.ts";
import { TableSums } from "../common/table-sums.ts";
import {
  type AuditEntry,
  type AuditQuery,
  type CommitBatch,
  type StoreContents,
  StoreFailure,
} from "../store.ts";
import { openForWriting, secureLog } from "./database.ts";
import { auditLog, historyTrimmer } from "./history.ts";
import { headerCells, type SqliteHeader, UPDATE_HEADER } from "./ledger-header.ts";
import {
  checkAuditEnds,
  checkLedgerPages,
  readHeader,
  readOrCreateHeader,
  readRecords,
} from "./read-ledger.ts";
import { migrate } from "./schema.ts";
import { sqliteFailure } from "./sqlite-failure.ts";
import { openTables, writeEvents } from "./tables.ts";

/**
 * The ledger's database, open for writing by this process alone. Each call does its work whole, or throws a
 * StoreFailure and has done nothing.
 */
export interface LedgerFile {
  readonly read: () => StoreContents;
  readonly commit: (batch: CommitBatch) => void;
  readonly lastCommit: () => number;
  readonly saveAdvertisements: (advertisements: readonly ReceivedAdvertisement[]) => void;
  readonly findDecision: (id: DecisionId) => Decision | undefined;
  readonly readAudit: (query: AuditQuery) => readonly AuditEntry[];
  readonly close: () => void;
}

/** Called after every durable commit. */
export type OnDurable = (last: Pick<SqliteHeader, "ledgerId" | "commitNumber">) => void;

export function openLedgerFile(file: string, retention: Retention, onDurable?: OnDurable): LedgerFile {
  secureLog(file);
  const database = openForWriting(file);
  try {
    migrate(database, file);
    checkLedgerPages(database);
    return ledgerFile(database, file, { retention, onDurable });
  } catch (error) {
    database.close();
    throw sqliteFailure(error, file);
  }
}

/** The ledger in a database that is ready for it. */
export function ledgerFile(
  database: DatabaseSync,
  file: string,
  { retention, onDurable }: { readonly retention: Retention; readonly onDurable?: OnDurable | undefined },
): LedgerFile {
  let header = readOrCreateHeader(database);
  const sums = new TableSums(header.sums);
  const tables = openTables(database, sums);
  const audit = auditLog(database);
  const trim = historyTrimmer(database, retention, sums);
  const updateHeader = database.prepare(UPDATE_HEADER);
  const begin = database.prepare("BEGIN IMMEDIATE");
  const commit = database.prepare("COMMIT");
  /** The number of a commit with unknown outcome. */
  let unsettled: number | undefined;
  checkAuditEnds(database, header);

  const guarded = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw sqliteFailure(error, file);
    }
  };

  const write = (batch: CommitBatch): SqliteHeader => {
    const events = durableEvents(batch);
    writeEvents(tables, events);
    for (const received of batch.advertisements ?? []) {
      // Whatever is there: that the newest is kept is for what is written behind, and may be late.
      tables.advertisements.remove(received.advertisement.clusterId);
      tables.advertisements.put(received);
    }
    const lines = auditLines(batch);
    const last = audit.append(header.audit, lines);
    const trimmed = trim({ lines: lines.length, now: batch.at, audit: last, trimmed: header.trimmed });
    return writeHeader({
      ledgerId: header.ledgerId,
      commitNumber: batch.number,
      time: Math.max(header.time, latestOf(events)),
      audit: last,
      trimmed,
      sums: sums.text,
    });
  };

  const writeHeader = (next: SqliteHeader): SqliteHeader => {
    const { changes } = updateHeader.run(...headerCells(next), header.commitNumber);
    if (changes === 1) return next;
    throw new StoreFailure("corrupt", `${file} was changed by another program; restore a backup`);
  };

  /** Reads the state of the file again and continues from it. */
  const resync = (): void => {
    if (database.isTransaction) database.exec("ROLLBACK");
    header = readHeader(database);
    sums.load(header.sums);
    if (header.commitNumber === unsettled) tables.reservations.confirm();
    else tables.reservations.revert();
    unsettled = undefined;
  };

  /** Rolls back a failed commit and reads the file to find the outcome. */
  const settle = (number: number, error: unknown): void => {
    const failure = sqliteFailure(error, file);
    unsettled = number;
    try {
      resync();
    } catch (cause) {
      if (failure.kind === "corrupt") throw failure;
      throw new StoreFailure("unknown", `${failure.message}; whether it was committed is unknown`, { cause });
    }
    if (header.commitNumber !== number) throw failure;
  };

  return {
    read: () =>
      guarded(() => {
        const records = readRecords(tables, header);
        const contradiction = contradictionIn(records);
        if (contradiction === undefined) {
          return { ledgerId: header.ledgerId, commitNumber: header.commitNumber, records };
        }
        throw new StoreFailure("corrupt", `${file} contradicts itself: ${contradiction}; restore a backup`);
      }),
    commit: (batch) => {
      if (unsettled !== undefined) guarded(resync);
      if (batch.number !== header.commitNumber + 1) {
        const message = `commit ${batch.number} cannot follow commit ${header.commitNumber}`;
        throw new StoreFailure("not-committed", message);
      }
      try {
        begin.run();
        const next = write(batch);
        commit.run();
        header = next;
        tables.reservations.confirm();
        onDurable?.(next);
      } catch (error) {
        settle(batch.number, error);
      }
    },
    lastCommit: () => {
      guarded(resync);
      return header.commitNumber;
    },
    saveAdvertisements: (advertisements) =>
      guarded(() => {
        if (unsettled !== undefined) resync();
        // What is written behind may be lost in a power failure: the next commit's sync is soon enough for it.
        database.exec("PRAGMA synchronous = NORMAL");
        try {
          begin.run();
          for (const received of advertisements) tables.advertisements.put(received);
          const next = writeHeader({ ...header, sums: sums.text });
          commit.run();
          header = next;
        } catch (error) {
          // Also what the tables hold has to be read again, before anything else is written.
          unsettled = header.commitNumber;
          resync();
          throw error;
        } finally {
          database.exec("PRAGMA synchronous = FULL");
        }
      }),
    findDecision: (id) => guarded(() => tables.decisions.find(id)),
    readAudit: (query) => guarded(() => audit.read(query)),
    close: () => guarded(() => database.close()),
  };
}
