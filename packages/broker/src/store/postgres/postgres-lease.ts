import type { Clock } from "@resource-broker/base";
import {
  type Candidate,
  type LeaseAdapter,
  type LeaseResult,
  leaseTime,
  POLLS_PER_LEASE,
} from "../common/leader-elector.ts";
import { headerIsGone, type LedgerHeader } from "../common/ledger-header.ts";
import { StoreFailure } from "../store.ts";
import type { Connection, Session, Statement } from "./session.ts";
import { refuseNewer, SCHEMA_VERSION } from "./schema.ts";
import { HEADER_COLUMNS, headerFrom, sealedHeader } from "./tables.ts";

/** The lease as another replica sees it. */
interface LeaseView {
  readonly instance: string;
  readonly holder: string;
  /** How much is left of it; 0 or less: it may be taken. By the database's clock. */
  readonly leftMs: number;
}

/**
 * The single row that holds the lease. It uses the database's time. Its row lock is the fence: a writer waits for the
 * previous transaction on the row and then sees its result.
 */
export interface LeaseRow {
  readonly read: (session: Session) => Promise<LeaseView>;
  /** The epoch of the new term; undefined: another replica leads. */
  readonly tryAcquire: (session: Session, who: Candidate) => Promise<number | undefined>;
  /** Renews the lease and returns the ledger's header; undefined if the term is over. */
  readonly renew: (session: Session, epoch: number) => Promise<LedgerHeader | undefined>;
  /** Releases the lease, so that another replica can acquire it at once. */
  readonly release: (session: Session, epoch: number) => Promise<void>;
  /** The last commit of a term that is over. */
  readonly lastCommitOf: (session: Session, epoch: number) => Promise<number | undefined>;
  /** The first statement of every transaction that writes: finds a row for the leader of this term only, and locks it. */
  readonly fence: (epoch: number, at: LedgerHeader) => Statement;
  /** The last statement of every such transaction: writes the new header. */
  readonly setHeader: (epoch: number, next: LedgerHeader) => Statement;
}

export function leaseRow(schema: string, leaseMs: number): LeaseRow {
  const lease = `${schema}.lease`;
  const term = `${schema}.term`;
  const until = `now() + ${leaseMs} * interval '1 millisecond'`;
  const columns = HEADER_COLUMNS.join(", ");
  const assignments = HEADER_COLUMNS.map((column, index) => `${column} = $${index + 2}`).join(", ");
  return {
    read: async (session) => {
      const { rows } = await session.send({
        text: `SELECT holder, instance, extract(epoch FROM expires_at - now()) * 1000 AS left_ms,
          (SELECT max(number) FROM ${schema}.migration) AS version FROM ${lease} WHERE one = 1`,
      });
      if (rows[0] === undefined) throw headerIsGone();
      const { holder, instance, left_ms: leftMs, version } = rows[0];
      refuseNewer(Number(version));
      return { holder: String(holder), instance: String(instance), leftMs: Number(leftMs) };
    },
    tryAcquire: async (session, { instance, name }) => {
      // Also the own lease: an attempt whose reply was lost is repeated.
      const { rows } = await session.send({
        text: `WITH taken AS (
            UPDATE ${lease} SET epoch = epoch + 1, instance = $1, holder = $2, expires_at = ${until}
            WHERE one = 1 AND (expires_at <= now() OR instance = $1)
              AND NOT EXISTS (SELECT 1 FROM ${schema}.migration WHERE number > ${SCHEMA_VERSION})
            RETURNING epoch, holder, commit_seq)
          INSERT INTO ${term} (epoch, holder, since_commit, began_at)
          SELECT epoch, holder, commit_seq, now() FROM taken RETURNING epoch`,
        values: [instance, name],
      });
      return rows[0] === undefined ? undefined : Number(rows[0]["epoch"]);
    },
    renew: async (session, epoch) => {
      const { rows } = await session.send({
        name: "renew",
        text: `UPDATE ${lease} SET expires_at = ${until} WHERE one = 1 AND epoch = $1 RETURNING ${columns}`,
        values: [epoch],
      });
      return rows[0] === undefined ? undefined : headerFrom(rows[0]);
    },
    release: async (session, epoch) => {
      const text = `UPDATE ${lease} SET expires_at = now() WHERE one = 1 AND epoch = $1`;
      await session.send({ text, values: [epoch] });
    },
    lastCommitOf: async (session, epoch) => {
      const { rows } = await session.send({
        text: `SELECT since_commit FROM ${term} WHERE epoch > $1 ORDER BY epoch LIMIT 1`,
        values: [epoch],
      });
      return rows[0] === undefined ? undefined : Number(rows[0]["since_commit"]);
    },
    fence: (epoch, { commitNumber }) => ({
      name: "fence",
      text: `SELECT 1 FROM ${lease} WHERE one = 1 AND epoch = $1 AND commit_seq = $2 FOR UPDATE`,
      values: [epoch, commitNumber],
    }),
    setHeader: (epoch, next) => ({
      name: "move_head",
      text: `UPDATE ${lease} SET expires_at = ${until}, ${assignments} WHERE one = 1 AND epoch = $1`,
      values: [epoch, ...sealedHeader(next)],
    }),
  };
}

export interface PostgresLeaseDeps {
  readonly row: LeaseRow;
  readonly connection: Connection;
  readonly candidate: Candidate;
  readonly leaseMs: number;
  readonly clock: Pick<Clock, "monotonicMs" | "wallMs">;
}

export interface PostgresLease extends LeaseAdapter {
  /** The epoch of the current or last term. Throws a StoreFailure if this process never led. */
  readonly epoch: () => number;
  /** Who leads; the last known holder if the row cannot be read. */
  readonly readHolder: (session: Session) => Promise<string>;
}

export function postgresLease(deps: PostgresLeaseDeps): PostgresLease {
  const { row, connection, candidate, leaseMs, clock } = deps;
  let term: number | undefined;
  let lastHolder = "";
  /** The lease expires before the next poll: then it is acquired without reading it first. */
  let isDue = false;

  const acquire = (): Promise<LeaseResult | undefined> =>
    connection.use(async (session) => {
      const sentAt = leaseTime(clock);
      const epoch = await row.tryAcquire(session, candidate);
      if (epoch === undefined) return undefined;
      term = epoch;
      return { isHeld: true, sentAt, wasHeld: false };
    });

  const epoch = (): number => {
    if (term === undefined) throw new StoreFailure("not-committed", "the store is not open");
    return term;
  };

  const readHolder = async (session: Session): Promise<string> => {
    lastHolder = (await row.read(session).catch(() => undefined))?.holder ?? lastHolder;
    return lastHolder;
  };

  return {
    server: "the database",
    epoch,
    readHolder,
    tryAcquire: async () => {
      const acquired = await acquire();
      if (acquired !== undefined) return acquired;
      const { holder, leftMs } = await connection.use(row.read);
      return { isHeld: false, holder, freeInMs: leftMs };
    },
    poll: async (onRead) => {
      const acquired = isDue ? await acquire() : undefined;
      if (acquired !== undefined) return acquired;
      const { holder, instance, leftMs } = await connection.use(row.read);
      lastHolder = holder;
      onRead(holder);
      const isFree = leftMs <= 0 || instance === candidate.instance;
      const result = isFree ? await acquire() : undefined;
      if (result !== undefined) return result;
      isDue = leftMs <= leaseMs / POLLS_PER_LEASE;
      return { isHeld: false, holder, freeInMs: leftMs };
    },
    renew: () => {
      const current = epoch();
      return connection.use(async (session) => {
        const sentAt = leaseTime(clock);
        const isHeld = (await row.renew(session, current)) !== undefined;
        if (isHeld) return { isHeld, sentAt, wasHeld: true };
        return { isHeld, holder: await readHolder(session), freeInMs: 0 };
      });
    },
    release: () => {
      const ending = epoch();
      term = undefined;
      return connection.use((session) => row.release(session, ending));
    },
  };
}
