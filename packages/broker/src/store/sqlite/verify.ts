import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { type LedgerRecords, ledgerFrom } from "@resource-broker/domain";
import { type ChainLink, chainProblem } from "../common/audit.ts";
import { contradictionIn } from "../common/contradiction.ts";
import { DECISION } from "../common/record-tables.ts";
import { TableSums } from "../common/seals.ts";
import { ledgerFileIn, openForReading, sqliteFailure } from "./database.ts";
import { missingCommits, readLastCommit } from "./last-commit.ts";
import { readHeader, readRecords, type SqliteHeader } from "./read-ledger.ts";
import { describeSchema, migrate, SCHEMA_VERSION, versionOf } from "./schema.ts";
import { openTables, type Tables } from "./tables.ts";

/** What a thorough check found. A ledger is sound when there are no problems. */
export interface Verification {
  readonly file: string;
  /** In words, the first of each kind; empty for a sound ledger. */
  readonly problems: readonly string[];
  /** Absent when the file could not be read that far. */
  readonly found?: {
    readonly ledgerId: string;
    readonly commitNumber: number;
    readonly reservations: number;
    readonly decisions: number;
    readonly auditLines: number;
    /** Older lines were trimmed away: the chain is unbroken from this one on. */
    readonly firstAuditLine: number;
    /** Write it down elsewhere: who can rewrite the whole file could make up a new chain, but not this hash. */
    readonly lastAuditHash: string;
  };
}

/**
 * Reads the whole ledger and finds any changed byte that means something: structure, indexes and schema by SQLite's own
 * check, values by their rows' seals, rows that are missing or too many by their table's sum, the audit log by its chain, and
 * commits that are missing at the end by the note beside the file. What it cannot find is a change in space that holds
 * nothing (free pages, gaps in pages). Changes nothing, and may run beside a broker.
 */
export function verifyLedger(directory: string, check = verifyFile): Verification {
  // Read first: a broker that runs may commit meanwhile, and the ledger must not seem to be behind.
  const noted = existsSync(directory) ? readLastCommit(directory) : undefined;
  const verification = check(ledgerFileIn(directory));
  const { file, problems, found } = verification;
  const missing = found && missingCommits(noted, found, file);
  return missing === undefined ? verification : { ...verification, problems: [...problems, missing] };
}

export function verifyFile(file: string): Verification {
  let database: DatabaseSync;
  try {
    database = openForReading(file);
  } catch (error) {
    return { file, problems: [sqliteFailure(error, file).message] };
  }
  try {
    // One transaction, so that all of it is seen at the same commit.
    database.exec("BEGIN");
    return { file, ...inspect(database) };
  } catch (error) {
    return { file, problems: [sqliteFailure(error, file).message] };
  } finally {
    database.close();
  }
}

function inspect(database: DatabaseSync): Omit<Verification, "file"> {
  const structure = [...pageProblems(database), ...schemaProblems(database)];
  // Rows of a broken structure would only repeat what is known already.
  if (structure.length > 0) return { problems: structure };
  const header = readHeader(database);
  const tables = openTables(database, new TableSums(header.sums));
  const audit = verifyAudit(database, header);
  const records = readRecords(tables, header);
  const problems = [...audit.problems, ...recordProblems(records)];
  const found = {
    ledgerId: header.ledgerId,
    commitNumber: header.commitNumber,
    reservations: records.reservations.length,
    decisions: countDecisions(tables),
    auditLines: audit.lines,
    firstAuditLine: header.trimmed.sequence + 1,
    lastAuditHash: header.audit.hash,
  };
  return { problems, found };
}

function pageProblems(database: DatabaseSync): string[] {
  const findings = database.prepare("PRAGMA integrity_check(10)").all();
  return findings.map((row) => String(row["integrity_check"])).filter((finding) => finding !== "ok");
}

function schemaProblems(database: DatabaseSync): string[] {
  if (versionOf(database) !== SCHEMA_VERSION)
    return ["the schema is of another version; start the broker once to migrate it"];
  const model = new DatabaseSync(":memory:");
  migrate(model, "model");
  const expected = describeSchema(model);
  model.close();
  const isSame = JSON.stringify(expected) === JSON.stringify(describeSchema(database));
  return isSame ? [] : ["the schema was changed"];
}

function verifyAudit(
  database: DatabaseSync,
  { trimmed, audit }: SqliteHeader,
): { lines: number; problems: string[] } {
  let link: ChainLink = trimmed;
  for (const row of database.prepare("SELECT sequence, line, hash FROM audit ORDER BY sequence").iterate()) {
    const line = { sequence: Number(row["sequence"]), hash: String(row["hash"]), text: String(row["line"]) };
    const problem = chainProblem(link, line);
    if (problem !== undefined)
      return { lines: link.sequence - trimmed.sequence, problems: [`audit ${problem}`] };
    link = line;
  }
  const isWhole = link.sequence === audit.sequence && link.hash === audit.hash;
  const problems = isWhole
    ? []
    : [`the audit log ends at line ${link.sequence}, not at ${audit.sequence} as recorded`];
  return { lines: link.sequence - trimmed.sequence, problems };
}

function recordProblems(records: LedgerRecords): string[] {
  const contradiction = contradictionIn(records);
  if (contradiction !== undefined) return [contradiction];
  ledgerFrom(records, records.time);
  return [];
}

/** Reading a decision checks its seal. */
function countDecisions(tables: Tables): number {
  let count = 0;
  for (const _ of tables.all(DECISION)) count++;
  return count;
}
