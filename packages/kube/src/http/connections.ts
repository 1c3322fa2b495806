import { X509Certificate } from "node:crypto";
import { Agent as PlainAgent } from "node:http";
import { Agent as SecureAgent } from "node:https";
import { createSecureContext, getCACertificates, type SecureContext } from "node:tls";
import { Fault, type Log } from "@resource-broker/base";
import type { ReportReload } from "@resource-broker/runtime";
import { type Credentials, isSameTls } from "../auth/credentials.ts";
import type { Trust } from "../config/kube-config.ts";
import type { Endpoint } from "./exchange.ts";

/** Maximum connections for calls: API servers limit them, and each needs a handshake. */
const MAX_CALLS = 8;
/** Watches have connections of their own, so that they never block calls. */
const MAX_STREAMS = 64;
const MAX_IDLE = 4;
/** Minimal read-ahead for streams: unread data stays in the server's buffers and causes no wake-ups. */
const STREAM = { maxSockets: MAX_STREAMS, highWaterMark: 1 };

export interface Connections {
  /** The connections to use with these credentials. */
  readonly agentFor: (credentials: Credentials, use: Use) => PlainAgent;
  readonly close: () => void;
}

export type Use = "call" | "stream";

/** Connections that use the same certificates. */
type Pool = Readonly<Record<Use, PlainAgent>>;

export interface ConnectionsOptions {
  readonly endpoint: Endpoint;
  readonly trust: Trust;
  readonly origin: string;
  readonly log: Log;
  /** Receives whether new certificates can be used. */
  readonly report?: ReportReload;
}

/** Connection pools. New certificates open new pools; running streams continue on the old ones. */
export function connections({ endpoint, trust, origin, log, report }: ConnectionsOptions): Connections {
  let pool: Pool | undefined;
  let inUse: Credentials = {};
  /** New credentials that could not be used. */
  let rejected: Credentials | undefined;
  let isClosed = false;
  const retired = new Set<Pool>();

  const replace = (credentials: Credentials): Pool => {
    try {
      const next = endpoint.isSecure ? securePool(trust, credentials) : plainPool();
      if (pool !== undefined) retire(pool, retired);
      pool = next;
      inUse = credentials;
      rejected = undefined;
      report?.(undefined);
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      if (pool === undefined) throw unusable(origin, problem, error);
      // Only one file of the pair may have been replaced yet: the next check finds both.
      rejected = credentials;
      report?.(problem);
      log.warn({ origin, problem }, "cannot use the new certificates yet; the old ones stay in use");
    }
    return pool;
  };

  const poolFor = (credentials: Credentials): Pool => {
    if (pool === undefined) return replace(credentials);
    if (rejected !== undefined && isSameTls(credentials, rejected)) return pool;
    if (!isSameTls(credentials, inUse)) return replace(credentials);
    if (rejected !== undefined) report?.(undefined);
    rejected = undefined;
    return pool;
  };

  return {
    agentFor: (credentials, use) => {
      if (isClosed) throw new Fault("unreachable", `the client of ${endpoint.server} was closed`);
      return poolFor(credentials)[use];
    },
    close: () => {
      isClosed = true;
      for (const each of [...retired, ...(pool === undefined ? [] : [pool])]) {
        each.call.destroy();
        each.stream.destroy();
      }
      retired.clear();
    },
  };
}

function unusable(origin: string, problem: string, cause: unknown): Fault {
  return new Fault(
    "invalid",
    `the certificates of ${origin} cannot be used (${problem}): they must be PEM, and the key must belong to the certificate`,
    { cause },
  );
}

function securePool(trust: Trust, { ca, cert, key }: Credentials): Pool {
  // One context for all connections: reading the certificates takes longer than a resumed handshake.
  const secureContext: SecureContext = createSecureContext({
    ...(trust.insecureSkipVerify
      ? {}
      : { ca: ca === undefined ? systemAuthorities() : checkedAuthority(ca) }),
    ...(cert === undefined || key === undefined ? {} : { cert, key }),
    minVersion: "TLSv1.2",
  });
  const options = {
    keepAlive: true,
    maxFreeSockets: MAX_IDLE,
    secureContext,
    rejectUnauthorized: !trust.insecureSkipVerify,
    ...(trust.serverName === undefined ? {} : { servername: trust.serverName }),
  };
  return {
    call: new SecureAgent({ ...options, maxSockets: MAX_CALLS }),
    stream: new SecureAgent({ ...options, ...STREAM }),
  };
}

/** Node's own list, and what the administrator of this machine trusts, as kubectl does. */
function systemAuthorities(): string[] {
  return [...getCACertificates("default"), ...getCACertificates("system")];
}

/** createSecureContext accepts invalid PEM silently and then trusts no certificate. */
function checkedAuthority(pem: string): string {
  void new X509Certificate(pem);
  return pem;
}

function plainPool(): Pool {
  const options = { keepAlive: true, maxFreeSockets: MAX_IDLE };
  return {
    call: new PlainAgent({ ...options, maxSockets: MAX_CALLS }),
    stream: new PlainAgent({ ...options, ...STREAM }),
  };
}

/** Running requests finish; no new ones start. */
function retire(pool: Pool, retired: Set<Pool>): void {
  for (const old of retired) if (isIdle(old)) retired.delete(old);
  for (const agent of [pool.call, pool.stream]) {
    agent.maxFreeSockets = 0;
    dropIdle(agent);
  }
  retired.add(pool);
}

/** Closes idle connections: when one is dead, the others most likely are, too. */
export function dropIdle({ freeSockets }: PlainAgent): void {
  for (const sockets of Object.values(freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}

function isIdle({ call, stream }: Pool): boolean {
  return Object.keys(call.sockets).length + Object.keys(stream.sockets).length === 0;
}
