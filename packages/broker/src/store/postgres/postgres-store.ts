import { randomUUID } from "node:crypto";
import type { Clock, Log } from "@resource-broker/base";
import { DEFAULT_LEASE_MS, leaderElector, type ReplicatedStore } from "../common/leader-elector.ts";
import { DECISION, valueFrom } from "../common/record-tables.ts";
import { DEFAULT_RETENTION, type Retention, type StoreContents, StoreFailure } from "../store.ts";
import type { PostgresAddress } from "./address.ts";
import {
  type Connection,
  openSession,
  serialConnection,
  type Session,
  type SessionTimeouts,
} from "./session.ts";
import { postgresFailure } from "./failure.ts";
import { type LeaderTerm, type LedgerDatabase, ledgerDatabase } from "./ledger-database.ts";
import { leaseRow, postgresLease } from "./postgres-lease.ts";
import { readAudit, readLedger } from "./read-ledger.ts";
import { checkServer, createTables, migrate } from "./schema.ts";
import { columnsOf } from "./tables.ts";

/** Batch size for saving advertisements, so that a large fleet does not block commits. */
const SAVE_BATCH = 200;
const TRIM_EVERY_MS = 10_000;
const CONNECT_MS = 3000;
const CLOSE_MS = 1000;

export interface PostgresStoreOptions {
  readonly address: PostgresAddress;
  /** What this replica calls itself to people. */
  readonly replica: string;
  readonly leaseMs?: number;
  readonly retention?: Retention;
}

export interface PostgresStoreDeps {
  readonly clock: Clock;
  readonly log: Pick<Log, "warn">;
  /** Absent: real connections. */
  readonly openSession?: typeof openSession;
}

export function postgresStore(options: PostgresStoreOptions, deps: PostgresStoreDeps): ReplicatedStore {
  const { clock, log } = deps;
  const { address, replica, leaseMs = DEFAULT_LEASE_MS, retention = DEFAULT_RETENTION } = options;
  const { schema, displayName } = address;
  const timeouts: SessionTimeouts = {
    connectMs: CONNECT_MS,
    // The server gives up first: then it is certain that nothing was written.
    statementMs: Math.round((leaseMs * 5) / 6),
    answerMs: leaseMs,
    silenceMs: Math.round(leaseMs / 3),
  };
  const { openSession: connect = openSession } = deps;
  const open = (): Promise<Session> => connect(address, timeouts, `resource-broker ${replica}`);
  const newConnection = (): Connection => serialConnection({ open, clock, closeMs: CLOSE_MS });
  // Commits and renewals share one connection; reads use another, so that a large read does not delay commits.
  const writer = newConnection();
  const reader = newConnection();
  const row = leaseRow(schema, leaseMs);
  const onError = (doing: string, error: unknown): string => {
    const { message } = postgresFailure(error, displayName);
    log.warn({ error: message }, doing);
    return message;
  };
  const candidate = { instance: randomUUID(), name: replica };
  const lease = postgresLease({ row, connection: writer, candidate, leaseMs, clock });
  const elector = leaderElector({ lease, leaseMs, clock, onError });
  const term: LeaderTerm = {
    epoch: lease.epoch,
    renewed: elector.renewed,
    markLost: async (session) => elector.markLost(await lease.readHolder(session)),
  };
  let database: LedgerDatabase | undefined;
  let isPrepared = false;
  let isOlder = false;
  let cancelTrim = (): void => undefined;

  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw postgresFailure(error, displayName);
    }
  };

  /** Work on the open ledger. */
  const on = <T>(
    connection: Connection,
    work: (ledger: LedgerDatabase, session: Session) => Promise<T>,
  ): Promise<T> =>
    guarded(async () => {
      const ledger = database;
      if (ledger === undefined)
        throw new StoreFailure("not-committed", `the store at ${displayName} is not open`);
      return connection.use((session) => work(ledger, session));
    });

  const prepare = (): Promise<void> =>
    guarded(async () => {
      await writer.use(async (session) => {
        for (const warning of await checkServer(session)) log.warn({ store: displayName }, warning);
        isOlder = await createTables(session, schema);
      });
      // Connect in advance: after the election no call is served until the ledger has been read.
      await reader.use(() => Promise.resolve());
      isPrepared = true;
    });

  const lead = async (): Promise<void> => {
    if (!isPrepared) await prepare();
    const leader = await elector.tryLead();
    if (leader === undefined) return;
    throw new StoreFailure(
      "not-committed",
      `${displayName}: another broker leads (${leader}); stop it, or wait until it ends`,
    );
  };

  const read = async (): Promise<StoreContents> => {
    await writer.use(async (session) => {
      if (isOlder && !(await migrate(session, schema, term.epoch()))) throw await term.markLost(session);
    });
    const { contents, header, epoch } = await reader.use((session) => readLedger(session, schema));
    if (epoch !== term.epoch()) throw await writer.use(term.markLost);
    database = ledgerDatabase(header, { schema, row, term, clock, retention });
    planTrim();
    return contents;
  };

  const planTrim = (): void => {
    cancelTrim = clock.after(TRIM_EVERY_MS, () => void trim());
  };

  const trim = async (): Promise<void> => {
    try {
      while (await on(writer, (ledger, session) => ledger.trim(session)));
    } catch (error) {
      onError("old history could not be removed", error);
    }
    if (database !== undefined) planTrim();
  };

  const close = async (): Promise<void> => {
    database = undefined;
    cancelTrim();
    await elector.release();
    await Promise.all([writer.close(), reader.close()]);
  };

  return {
    open: () =>
      guarded(async () => {
        if (database !== undefined)
          throw new StoreFailure("not-committed", `the store at ${displayName} is open already`);
        try {
          await lead();
          return await read();
        } catch (error) {
          await close();
          throw error;
        }
      }),
    commit: (batch) => on(writer, (ledger, session) => ledger.commit(session, batch)),
    lastCommit: () => on(writer, (ledger, session) => ledger.lastCommit(session)),
    saveAdvertisements: async (advertisements) => {
      for (let from = 0; from < advertisements.length; from += SAVE_BATCH) {
        const some = advertisements.slice(from, from + SAVE_BATCH);
        await on(writer, (ledger, session) => ledger.saveAdvertisements(session, some));
      }
    },
    findDecision: (id) =>
      on(reader, async (_, session) => {
        const text = `SELECT ${columnsOf(DECISION)} FROM ${schema}.decision WHERE id = $1`;
        const [found] = (await session.send({ text, values: [id] })).rows;
        return found === undefined ? undefined : valueFrom(DECISION, found);
      }),
    readAudit: (query) => on(reader, (_, session) => readAudit(session, schema, query)),
    close,
    leadership: { ...elector, prepare },
  };
}
