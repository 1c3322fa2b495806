import { Agent } from "node:https";
import { createSecureContext } from "node:tls";
import { Fault } from "@resource-broker/base";
import type { CertificateSet, CertificateSource } from "@resource-broker/runtime";
import type { ClientHints } from "./endpoints.ts";

/** The broker keeps idle connections for 120 s; ours end earlier, so that no call uses a closing one. */
const IDLE_MS = 90_000;
const DEAD_PEER_PROBE_MS = 30_000;
/** The broker allows 64 for each cluster. */
const MAX_CONNECTIONS = 16;
const MAX_IDLE = 2;

/** Connection pools for one set of certificates. */
export interface ConnectionPools {
  /** Kept from call to call. */
  readonly calls: Agent;
  /** One connection each. */
  readonly streams: Agent;
  /** The header Agent-Identity, which vouches for the certificate of these connections. Undefined: none. */
  readonly agentIdentity: string | undefined;
}

export type AgentIdentityHeader = (set: CertificateSet) => string | undefined;

/** Connections with the newest certificates. */
export interface TlsConnections {
  /** The Common Name of the certificate: the identity that the broker sees. */
  readonly identity: () => string;
  readonly pools: () => ConnectionPools;
  /** Closes idle connections, because one of them was dead. */
  readonly dropIdle: () => void;
  /** Called when there are new certificates. Returns how to stop. */
  readonly onRenewed: (listener: () => void) => () => void;
  readonly close: () => void;
}

/** Reads the certificates; rejects when they are missing or do not match. */
export async function openTlsConnections(
  certificates: CertificateSource,
  hints: ClientHints,
  agentIdentity: AgentIdentityHeader = () => undefined,
): Promise<TlsConnections> {
  const listeners = new Set<() => void>();
  const first = await certificates.start();
  const name = identityOf(first, hints);
  let pools = createPools(first, agentIdentity(first));

  const unsubscribe = certificates.onChange((set) => {
    retire(pools.calls);
    pools = createPools(set, agentIdentity(set));
    for (const listener of listeners) listener();
  });

  return {
    identity: () => name,
    pools: () => pools,
    dropIdle: () => dropIdle(pools.calls),
    onRenewed: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => {
      unsubscribe();
      certificates.stop();
      retire(pools.calls);
    },
  };
}

function createPools(
  { files: { cert, key, ca } }: CertificateSet,
  agentIdentity: string | undefined,
): ConnectionPools {
  // Shared by all connections: otherwise each would parse the certificates again and keep a copy.
  const tls = { secureContext: createSecureContext({ cert, key, ca, minVersion: "TLSv1.2" }) };
  return {
    agentIdentity,
    calls: new Agent({
      ...tls,
      keepAlive: true,
      keepAliveMsecs: DEAD_PEER_PROBE_MS,
      timeout: IDLE_MS,
      maxSockets: MAX_CONNECTIONS,
      maxFreeSockets: MAX_IDLE,
      scheduling: "lifo",
    }),
    streams: new Agent({ ...tls, keepAlive: false }),
  };
}

/** Closes idle connections now and the others when they become idle: running calls finish. */
function retire(agent: Agent): void {
  agent.maxFreeSockets = 0;
  dropIdle(agent);
}

function dropIdle(agent: Agent): void {
  for (const sockets of Object.values(agent.freeSockets)) {
    for (const socket of sockets ?? []) socket.destroy();
  }
}

/** The Common Name of the own certificate; undefined where there is not exactly one. Node gives a list where there are several. */
export function commonNameOf({ own }: CertificateSet): string | undefined {
  const name: unknown = own.toLegacyObject().subject.CN;
  return typeof name === "string" && name !== "" ? name : undefined;
}

function identityOf(set: CertificateSet, { certificates }: ClientHints): string {
  const name = commonNameOf(set);
  if (name !== undefined) return name;
  throw new Fault(
    "no-certificate",
    `tls.crt in ${certificates} must have exactly one Common Name, the cluster ID: brokerctl certs issue <cluster-id> makes one`,
  );
}
