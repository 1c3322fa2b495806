import type { DatabaseSync } from "node:sqlite";
import type { Decision, DecisionId, Instant, ReceivedAdvertisement } from "@resource-broker/domain";
import { type ChainedLine, chainedLines, type ChainLink, entryFrom } from "../common/audit.ts";
import {
  additionOf,
  durableEvents,
  latestOf,
  requireNext,
  type StoredRequests,
  tableChanges,
} from "../common/changes.ts";
import { refuseContradiction } from "../common/contradiction.ts";
import { ADVERTISEMENT, DECISION, RESERVATION, WAITING } from "../common/record-tables.ts";
import {
  type AuditEntry,
  type AuditQuery,
  type CommitBatch,
  type Retention,
  type StoreContents,
  StoreFailure,
} from "../store.ts";
import { TableSums } from "../common/seals.ts";
import { openForWriting, secureLog, sqliteFailure } from "./database.ts";
import {
  checkAudit,
  checkLedgerPages,
  headerCells,
  readHeader,
  readOrCreateHeader,
  readRecords,
  type SqliteHeader,
  UPDATE_HEADER,
} from "./read-ledger.ts";
import { migrate } from "./schema.ts";
import { openTables } from "./tables.ts";

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
  checkAudit(database, header);

  const guarded = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw sqliteFailure(error, file);
    }
  };

  const stored: StoredRequests = {
    reservation: (id) => tables.find(RESERVATION, id),
    waiting: (id) => tables.find(WAITING, id),
  };

  const write = (batch: CommitBatch): SqliteHeader => {
    for (const change of tableChanges(batch, stored)) tables.write(change);
    const lines = chainedLines(batch, header.audit);
    audit.append(lines);
    const last = lines.at(-1)?.link ?? header.audit;
    const trimmed = trim({ lines: lines.length, now: batch.at, audit: last, trimmed: header.trimmed });
    return writeHeader({
      ledgerId: header.ledgerId,
      commitNumber: batch.number,
      time: Math.max(header.time, latestOf(durableEvents(batch))),
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
    if (header.commitNumber === unsettled) tables.confirm();
    else tables.revert();
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
        refuseContradiction(records, file);
        return { ledgerId: header.ledgerId, commitNumber: header.commitNumber, records };
      }),
    commit: (batch) => {
      if (unsettled !== undefined) guarded(resync);
      requireNext(batch, header.commitNumber);
      try {
        begin.run();
        const next = write(batch);
        commit.run();
        header = next;
        tables.confirm();
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
          tables.write(additionOf(ADVERTISEMENT, advertisements));
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
    findDecision: (id) => guarded(() => tables.find(DECISION, id)),
    readAudit: (query) => guarded(() => audit.read(query)),
    close: () => guarded(() => database.close()),
  };
}

/** What a commit added, and when: trimming keeps pace with it. */
interface Growth {
  readonly lines: number;
  readonly now: Instant;
  readonly audit: ChainLink;
  readonly trimmed: ChainLink;
}

/**
 * Removes old history a few rows at a time, as part of each commit: more than the commit added, so that it catches up,
 * and never so much that a commit has to wait for it.
 */
function historyTrimmer(database: DatabaseSync, retention: Retention, sums: TableSums) {
  const oldest = database.prepare("SELECT sequence, at FROM decision ORDER BY sequence LIMIT 1");
  const newest = database.prepare("SELECT max(sequence) AS sequence FROM decision");
  const removeDecisions = database.prepare(
    "DELETE FROM decision WHERE sequence < ? AND (sequence <= ? OR at < ?) RETURNING seal",
  );
  const findLine = database.prepare("SELECT sequence, line, hash FROM audit WHERE sequence = ?");
  const removeLines = database.prepare("DELETE FROM audit WHERE sequence <= ?");

  const trimDecisions = (step: number, now: Instant): void => {
    const first = oldest.get();
    if (first === undefined) return;
    const from = Number(first["sequence"]);
    const tooMany = Number(newest.get()?.["sequence"]) - retention.decisions.atMost;
    const tooOld = now - retention.decisions.forMs;
    if (from > tooMany && Number(first["at"]) >= tooOld) return;
    for (const { seal } of removeDecisions.all(from + step, tooMany, tooOld))
      sums.remove("decision", Number(seal));
  };

  const trimAudit = (step: number, { audit, trimmed, now }: Growth): ChainLink => {
    const upTo = trimmed.sequence + step;
    if (upTo >= audit.sequence) return trimmed;
    const row = findLine.get(upTo);
    if (row === undefined) return trimmed;
    const { at, sequence, hash } = entryFrom(row);
    const { atMost, forMs } = retention.audit;
    if (upTo > audit.sequence - atMost && at >= now - forMs) return trimmed;
    removeLines.run(upTo);
    return { sequence, hash };
  };

  /** Returns where the audit log begins from now on. */
  return (growth: Growth): ChainLink => {
    const step = 2 * growth.lines + 8;
    trimDecisions(step, growth.now);
    return trimAudit(step, growth);
  };
}

interface AuditLog {
  readonly append: (lines: readonly ChainedLine[]) => void;
  readonly read: (query: AuditQuery) => readonly AuditEntry[];
}

function auditLog(database: DatabaseSync): AuditLog {
  const insert = database.prepare("INSERT INTO audit (sequence, line, hash) VALUES (?, ?, ?)");
  const select = database.prepare(
    "SELECT sequence, line, hash FROM audit WHERE sequence > ? ORDER BY sequence LIMIT ?",
  );
  return {
    append: (lines) => {
      for (const { link, text } of lines) insert.run(link.sequence, text, link.hash);
    },
    read: ({ after, limit }) => select.all(after, limit).map(entryFrom),
  };
}
