import { readFile } from "node:fs/promises";
import type { ConnectionOptions } from "node:tls";
import type { Clock } from "@resource-broker/base";
import type { Client } from "pg";
import { mutex } from "../common/mutex.ts";
import type { Row } from "../common/record-tables.ts";
import { StoreFailure } from "../store.ts";
import type { PostgresAddress } from "./address.ts";
import { isAnswer, isConflict } from "./failure.ts";

export type Value = string | number | Buffer;

export interface Statement {
  readonly text: string;
  readonly values?: readonly Value[];
  /** Parsed and planned once for each connection. */
  readonly name?: string;
}

export interface StatementResult {
  readonly rows: readonly Row[];
  /** Rows that were found or changed. */
  readonly count: number;
  /** What was done: a COMMIT of a transaction that has failed is answered with ROLLBACK. */
  readonly command: string;
}

/** How long things may take. */
export interface SessionTimeouts {
  readonly connectMs: number;
  /** The server gives up a statement that takes longer. */
  readonly statementMs: number;
  /** The server ends a transaction whose client says nothing for so long: a paused one must not keep a lock. */
  readonly silenceMs: number;
  /** A connection that does not answer for so long is given up. Longer than what the server allows itself. */
  readonly answerMs: number;
}

/** One connection. Statements are sent at once, without waiting for earlier ones, and answered in order. */
export interface Session {
  readonly send: (statement: Statement) => Promise<StatementResult>;
  readonly isUsable: () => boolean;
  /** Breaks the connection; whatever is under way fails. */
  readonly destroy: () => void;
  readonly close: () => Promise<void>;
}

export async function openSession(
  address: PostgresAddress,
  timeouts: SessionTimeouts,
  applicationName: string,
): Promise<Session> {
  // Imported on use: the module costs 10 MB and 50 ms.
  const { Client } = await import("pg");
  const client = new Client({
    host: address.host,
    port: address.port,
    database: address.database,
    user: address.user,
    password: address.password,
    ssl: await tlsOptions(address),
    keepAlive: true,
    pipeline: true,
    application_name: applicationName,
    connectionTimeoutMillis: timeouts.connectMs,
    query_timeout: timeouts.answerMs,
    statement_timeout: timeouts.statementMs,
    idle_in_transaction_session_timeout: timeouts.silenceMs,
  });
  const session = sessionOf(client);
  try {
    await client.connect();
    await enforceDurability(session);
    return session;
  } catch (error) {
    session.destroy();
    throw error;
  }
}

function sessionOf(client: Client): Session {
  let isBroken = false;
  // A connection may break while nobody waits for an answer.
  client.on("error", () => {
    isBroken = true;
  });
  client.on("end", () => {
    isBroken = true;
  });
  const destroy = (): void => {
    isBroken = true;
    client.connection.stream.destroy();
  };
  return {
    send: async ({ text, values = [], name }) => {
      const query = { text, values: [...values], ...(name === undefined ? {} : { name }) };
      const { rows, rowCount, command } = await client.query<Row>(query);
      return { rows, count: rowCount ?? 0, command };
    },
    isUsable: () => !isBroken && client.getTransactionStatus() === "I",
    destroy,
    close: async () => {
      if (isBroken) return;
      isBroken = true;
      await client.end();
    },
  };
}

/** Overrides the server's default: acknowledged commits must survive a crash of the server. */
async function enforceDurability(session: Session): Promise<void> {
  const { rows } = await session.send({ text: "SELECT current_setting('synchronous_commit') AS mode" });
  if (rows[0]?.["mode"] === "off") await session.send({ text: "SET synchronous_commit = 'on'" });
}

async function tlsOptions(address: PostgresAddress): Promise<ConnectionOptions | false> {
  const { sslMode, sslRootCert, sslCert, sslKey } = address;
  if (sslMode === "disable") return false;
  const [ca, cert, key] = await Promise.all([sslRootCert, sslCert, sslKey].map(contentOf));
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    // As libpq does: an authority that was given is asked.
    rejectUnauthorized: sslMode !== "require" || ca !== undefined,
    ...(sslMode === "verify-full" ? {} : { checkServerIdentity: () => undefined }),
  };
}

async function contentOf(path: string | undefined): Promise<string | undefined> {
  return path === undefined ? undefined : readFile(path, "utf8");
}

const BEGIN: Statement = { text: "BEGIN" };
const COMMIT: Statement = { text: "COMMIT" };
const ROLLBACK: Statement = { text: "ROLLBACK" };

/** Begins a transaction and sends its first statements along; returns their answers. */
export async function begin(session: Session, first: readonly Statement[]): Promise<StatementResult[]> {
  const outcomes = await Promise.allSettled([BEGIN, ...first].map(session.send));
  return outcomes.slice(1).map((outcome) => {
    if (outcome.status === "rejected") throw outcome.reason;
    return outcome.value;
  });
}

/**
 * Sends the last statements and the COMMIT in one go, and returns when the transaction is surely there. Throws what kept
 * it from being there, or a StoreFailure of kind `unknown` when only the database knows.
 */
export async function finish(session: Session, last: readonly Statement[]): Promise<void> {
  const outcomes = await Promise.allSettled([...last, COMMIT].map(session.send));
  const [commit] = outcomes.splice(-1);
  const failed = outcomes.find((write) => write.status === "rejected");
  if (commit?.status !== "fulfilled") throw asFailure(failed?.reason, commit?.reason);
  if (commit.value.command !== "COMMIT") throw failed?.reason ?? new Error("the transaction was rolled back");
}

/** What is known when the COMMIT was not confirmed. */
function asFailure(write: unknown, commit: unknown): unknown {
  // The database refused a write, so it has rolled back the transaction, even if the connection broke.
  if (isAnswer(write)) return write;
  if (isConflict(commit)) return commit;
  const message = "the connection broke before the commit was confirmed";
  return new StoreFailure("unknown", message, { cause: commit });
}

export async function rollBack(session: Session): Promise<void> {
  // Where this fails the connection is broken, and with it the transaction.
  await session.send(ROLLBACK).catch(session.destroy);
}

interface ConnectionDeps {
  readonly open: () => Promise<Session>;
  readonly clock: Pick<Clock, "after">;
  /** Closing takes no longer. */
  readonly closeMs: number;
}

/** A connection for one piece of work at a time. It connects on first use and reconnects after a failure. */
export interface Connection {
  readonly use: <T>(work: (session: Session) => Promise<T>) => Promise<T>;
  readonly close: () => Promise<void>;
}

export function serialConnection({ open, clock, closeMs }: ConnectionDeps): Connection {
  let session: Session | undefined;
  const runExclusive = mutex();

  const connected = async (): Promise<Session> => {
    // Also a session with an open transaction: the next statements would become part of it.
    if (session?.isUsable() === false) session.destroy();
    if (session?.isUsable() !== true) session = await open();
    return session;
  };

  return {
    use: (work) => runExclusive(async () => work(await connected())),
    close: () =>
      runExclusive(async () => {
        const closing = session;
        session = undefined;
        if (closing === undefined) return;
        const cancel = clock.after(closeMs, closing.destroy);
        await closing.close().catch(() => undefined);
        cancel();
      }),
  };
}
