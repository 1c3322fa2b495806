import type { Clock } from "@resource-broker/base";
import type { ReceivedAdvertisement } from "@resource-broker/domain";
import type { ChainLink } from "../common/audit.ts";
import { additionOf, durableEvents, requestsToLoad, requireNext } from "../common/changes.ts";
import { type LeaseTime, leaseTime } from "../common/leader-elector.ts";
import type { LedgerHeader } from "../common/ledger-header.ts";
import { ADVERTISEMENT, type RecordTable, RESERVATION, valueFrom, WAITING } from "../common/record-tables.ts";
import { type CommitBatch, type Keep, type Retention, StoreFailure } from "../store.ts";
import { isConflict } from "./failure.ts";
import type { LeaseRow } from "./postgres-lease.ts";
import { begin, finish, rollBack, type Session, type Statement, type StatementResult } from "./session.ts";
import { arrayValue, changeStatements, columnsOf, planBatch, type Planned } from "./tables.ts";

/** Removed at a time: more would hold up commits. */
const TRIM_BATCH = 5000;
const MAX_TERMS = 1000;

/** What is kept, at this time of the ledger. */
interface Limits {
  readonly keep: Keep;
  readonly now: number;
}

/** Old decisions, not more than are removed at a time. */
interface OldDecisions {
  readonly before: number;
  readonly tooMany: number;
  readonly tooOld: number;
}

/** The decisions that are too old or too many; undefined: there are none. */
async function decisionsToTrim(
  session: Session,
  schema: string,
  { keep, now }: Limits,
): Promise<OldDecisions | undefined> {
  const table = `${schema}.decision`;
  const { rows } = await session.send({
    text: `SELECT sequence, at, (SELECT max(sequence) FROM ${table}) AS newest
      FROM ${table} ORDER BY sequence LIMIT 1`,
  });
  const [first] = rows;
  if (first === undefined) return undefined;
  const from = Number(first["sequence"]);
  const tooMany = Number(first["newest"]) - keep.atMost;
  const tooOld = now - keep.forMs;
  const isDue = from <= tooMany || Number(first["at"]) < tooOld;
  return isDue ? { before: from + TRIM_BATCH, tooMany, tooOld } : undefined;
}

function removeDecisions(schema: string, { before, tooMany, tooOld }: OldDecisions): Statement {
  return {
    text: `DELETE FROM ${schema}.decision WHERE sequence < $1 AND (sequence <= $2 OR at < $3)`,
    values: [before, tooMany, tooOld],
  };
}

/** The last line of the audit log that need not be kept; undefined: all of it is. */
async function lastLineToTrim(
  session: Session,
  schema: string,
  { audit, trimmed, keep, now }: Limits & Pick<LedgerHeader, "audit" | "trimmed">,
): Promise<ChainLink | undefined> {
  const tooMany = audit.sequence - keep.atMost;
  const { rows } = await session.send({
    text: `SELECT sequence, hash FROM ${schema}.audit
      WHERE sequence <= $1 AND (sequence <= $2 OR at < $3) ORDER BY sequence DESC LIMIT 1`,
    // The newest line stays: the chain continues from it.
    values: [Math.min(trimmed.sequence + TRIM_BATCH, audit.sequence - 1), tooMany, now - keep.forMs],
  });
  const [last] = rows;
  return last && { sequence: Number(last["sequence"]), hash: String(last["hash"]) };
}

/** A deposed leader needs the next term within minutes; older terms are for operators. */
function removeTerms(schema: string, epoch: number): Statement {
  return { text: `DELETE FROM ${schema}.term WHERE epoch < $1`, values: [epoch - MAX_TERMS] };
}

function removeAuditLines(schema: string, { sequence }: ChainLink): Statement {
  return { text: `DELETE FROM ${schema}.audit WHERE sequence <= $1`, values: [sequence] };
}

/** Attempts per transaction after serialization conflicts. */
const MAX_TRIES = 5;

/** The term in which this process leads. */
export interface LeaderTerm {
  /** Throws a StoreFailure if this process never led. */
  readonly epoch: () => number;
  /** A statement that was sent at this moment has renewed the lease. */
  readonly renewed: (sentAt: LeaseTime) => void;
  /** Records that another replica leads. */
  readonly markLost: (session: Session) => Promise<StoreFailure>;
}

export interface LedgerDatabaseDeps {
  readonly schema: string;
  readonly row: LeaseRow;
  readonly term: LeaderTerm;
  readonly clock: Pick<Clock, "monotonicMs" | "wallMs">;
  readonly retention: Retention;
}

/** The ledger in the tables, written by the leader of the term alone. Every call has the session to itself. */
export interface LedgerDatabase {
  readonly commit: (session: Session, batch: CommitBatch) => Promise<void>;
  readonly lastCommit: (session: Session) => Promise<number>;
  readonly saveAdvertisements: (session: Session, some: readonly ReceivedAdvertisement[]) => Promise<void>;
  /** Removes a piece of old history; true: there may be more. */
  readonly trim: (session: Session) => Promise<boolean>;
}

export function ledgerDatabase(opened: LedgerHeader, deps: LedgerDatabaseDeps): LedgerDatabase {
  const { schema, row, term, clock, retention } = deps;
  let header = opened;
  let latest = opened.time;
  /** The outcome of the last commit is unknown. */
  let isUnsettled = false;
  let hasRemovedTerms = false;

  /**
   * Reads the header that is really stored; undefined: the term is over. It changes the lease's row, so it waits for a
   * transaction of ours that the server still executes: reading alone could miss its commit.
   */
  const settle = async (session: Session): Promise<LedgerHeader | undefined> => {
    const sentAt = leaseTime(clock);
    const found = await row.renew(session, term.epoch());
    if (found === undefined) return undefined;
    term.renewed(sentAt);
    const ahead = found.commitNumber - header.commitNumber;
    // One ahead: the commit whose outcome was not known.
    if (ahead !== 0 && !(ahead === 1 && isUnsettled)) throw lostCommits(found, header);
    header = found;
    isUnsettled = false;
    return found;
  };

  /** The fence found no row: another replica leads, or the database was replaced. */
  const explainFenced = async (session: Session): Promise<StoreFailure> => {
    const found = await settle(session);
    return found === undefined ? term.markLost(session) : lostCommits(found, header);
  };

  /**
   * The only way in which this process writes: one transaction, of which nothing happens once another replica leads. The
   * lock keeps a successor from beginning its term meanwhile.
   */
  const transact = async (session: Session, { reads, plan }: Work): Promise<void> => {
    const sentAt = leaseTime(clock);
    const { writes, next } = await prepareWrites(session, { reads, plan });
    try {
      await finish(session, [...writes, row.setHeader(term.epoch(), next)]);
    } catch (error) {
      isUnsettled = error instanceof StoreFailure && error.kind === "unknown";
      throw error;
    }
    term.renewed(sentAt);
    header = next;
  };

  const prepareWrites = async (session: Session, { reads, plan }: Work): Promise<Planned> => {
    try {
      const [fence, ...found] = await begin(session, [row.fence(term.epoch(), header), ...reads]);
      if (fence?.count !== 1) throw FENCED;
      return plan(found);
    } catch (error) {
      await rollBack(session);
      throw error === FENCED ? await explainFenced(session) : error;
    }
  };

  const write = async (session: Session, batch: CommitBatch): Promise<void> => {
    const ids = requestsToLoad(durableEvents(batch));
    const reservations = rowsOf(schema, RESERVATION, ids.reservations);
    const waiting = rowsOf(schema, WAITING, ids.waiting);
    await transact(session, {
      reads: [...reservations.reads, ...waiting.reads],
      plan: (found) => {
        const stored = {
          reservation: reservations.finder(found.slice(0, reservations.reads.length)),
          waiting: waiting.finder(found.slice(reservations.reads.length)),
        };
        return planBatch(schema, batch, { header, stored });
      },
    });
    latest = Math.max(latest, batch.at);
  };

  const commit: LedgerDatabase["commit"] = async (session, batch) => {
    if (isUnsettled && (await settle(session)) === undefined) throw await term.markLost(session);
    requireNext(batch, header.commitNumber);
    for (let left = MAX_TRIES - 1; ; left--) {
      try {
        return await write(session, batch);
      } catch (error) {
        if (left === 0 || !isConflict(error)) throw error;
      }
    }
  };

  /** Trims in one transaction with the header, which records where the audit log begins. */
  const trim = async (session: Session): Promise<boolean> => {
    const { decisions: keep, audit } = retention;
    const decisions = await decisionsToTrim(session, schema, { keep, now: latest });
    const trimmed = await lastLineToTrim(session, schema, { ...header, keep: audit, now: latest });
    if (decisions === undefined && trimmed === undefined && hasRemovedTerms) return false;
    const writes = [
      removeTerms(schema, term.epoch()),
      ...(decisions === undefined ? [] : [removeDecisions(schema, decisions)]),
      ...(trimmed === undefined ? [] : [removeAuditLines(schema, trimmed)]),
    ];
    const next = { ...header, trimmed: trimmed ?? header.trimmed };
    await transact(session, { reads: [], plan: () => ({ writes, next }) });
    hasRemovedTerms = true;
    return true;
  };

  return {
    commit,
    lastCommit: async (session) => {
      const found = await settle(session);
      if (found !== undefined) return found.commitNumber;
      const last = await row.lastCommitOf(session, term.epoch());
      const failure = await term.markLost(session);
      if (last === undefined) throw failure;
      return last;
    },
    saveAdvertisements: (session, values) =>
      transact(session, {
        reads: [],
        plan: () => ({ writes: changeStatements(schema, additionOf(ADVERTISEMENT, values)), next: header }),
      }),
    trim,
  };
}

/** One transaction: what to read, and what to write once that is known. */
interface Work {
  readonly reads: readonly Statement[];
  readonly plan: (found: readonly StatementResult[]) => Planned;
}

const FENCED = new Error("the fence found no row");

function lostCommits(found: LedgerHeader, expected: LedgerHeader): StoreFailure {
  return new StoreFailure(
    "corrupt",
    `the database is at commit ${found.commitNumber}, and was at ${expected.commitNumber}: it has lost commits, or ` +
      "another program has changed it; was a copy put back, or an asynchronous standby promoted?",
  );
}

interface RowsToRead<T> {
  /** None where there is nothing to look for. */
  readonly reads: readonly Statement[];
  /** Finds a value by its ID in what the statements returned. */
  readonly finder: (results: readonly StatementResult[]) => (id: string) => T | undefined;
}

function rowsOf<T extends { readonly id: string }>(
  schema: string,
  mapping: RecordTable<T>,
  ids: readonly string[],
): RowsToRead<T> {
  const { table } = mapping;
  const find = (): Statement => ({
    name: `find_${table}`,
    text: `SELECT ${columnsOf(mapping)} FROM ${schema}.${table} WHERE id = ANY($1::text[])`,
    values: [arrayValue("text", ids)],
  });
  return {
    reads: ids.length === 0 ? [] : [find()],
    finder: (results) => {
      const values = results.flatMap(({ rows }) => rows.map((row) => valueFrom(mapping, row)));
      const byId = new Map(values.map((value) => [value.id, value]));
      return (id) => byId.get(id);
    },
  };
}
