import { createServer, type Server } from "node:http";
import type { Server as SecureServer } from "node:https";
import type { TLSSocket } from "node:tls";
import { type CertificateSet, isLoopback } from "@resource-broker/runtime";
import { CertificatesInForce, type ConnectionIdentity } from "../http/authenticate.ts";
import { Connections } from "../http/connections.ts";
import { DEFAULT_HTTP_LIMITS } from "../http/ports.ts";
import type { RequestHandler } from "../http/request-handler.ts";
import {
  closeExpiredConnections,
  createHttpsServer,
  handleRequests,
  listen,
  type ServerParts,
  secureContext,
  serverTimeouts,
} from "../http/server.ts";
import { type AllowedOrigin, certificateOrigin, loopbackOrigin } from "./origin.ts";
import type { DashboardDeps, DashboardOptions } from "./ports.ts";
import { type SessionCookie, sessionCookie } from "./session/cookie.ts";
import { pageUrl } from "./urls.ts";

const PORT_NAME = "the dashboard's port";

/** A server, and what belongs to it. */
export interface Listener {
  readonly server: Server | SecureServer;
  /** Stops timers and subscriptions. The caller closes the server. */
  readonly stop: () => void;
}

interface SecureParts extends Omit<ServerParts, "log" | "portName"> {
  readonly connections: Connections;
  readonly inForce: CertificatesInForce;
}

/** How browsers reach the dashboard: over plain HTTP on this machine, or over TLS with the broker's own certificate. */
export interface DashboardEndpoint {
  readonly origin: AllowedOrigin;
  readonly cookie: SessionCookie;
  /** The identity from the client certificate. */
  readonly identityOf: (socket: TLSSocket) => ConnectionIdentity;
  /** The broker's own, those in force now: over plain HTTP, too, sessions rest on them. */
  readonly certificates: () => CertificateSet;
  /** Begins to listen. */
  readonly listen: (serve: RequestHandler) => Promise<Listener>;
  /** Known once it listens. */
  readonly port: () => number;
  readonly url: () => string;
}

type EndpointDeps = Pick<DashboardDeps, "certificates" | "clock" | "log">;

interface CurrentCertificates {
  /** The first set. */
  readonly set: CertificateSet;
  readonly inForce: CertificatesInForce;
}

export async function createEndpoint(
  options: DashboardOptions,
  deps: EndpointDeps,
): Promise<DashboardEndpoint> {
  const { adminUnit } = options;
  const { handshakeTimeoutMs } = DEFAULT_HTTP_LIMITS;
  const set = await deps.certificates.start();
  const inForce = new CertificatesInForce(set, { adminUnit, handshakeTimeoutMs, clock: deps.clock });
  const create = isLoopback(options.host) ? plainEndpoint : secureEndpoint;
  return create(options, deps, { set, inForce });
}

function plainEndpoint(
  options: DashboardOptions,
  deps: EndpointDeps,
  { inForce }: CurrentCertificates,
): DashboardEndpoint {
  const { host = "localhost" } = options;
  let port = 0;
  return {
    origin: loopbackOrigin({ host, port: () => port }),
    cookie: sessionCookie({ isSecure: false, port: () => port }),
    identityOf: () => ({ kind: "anonymous" }),
    certificates: () => inForce.rules().set,
    listen: async (serve) => {
      const listener = plainListener({ serve, inForce }, options, deps);
      port = await listen(listener.server, options);
      return listener;
    },
    port: () => port,
    url: () => pageUrl({ host, port }),
  };
}

function secureEndpoint(
  options: DashboardOptions,
  deps: EndpointDeps,
  { set, inForce }: CurrentCertificates,
): DashboardEndpoint {
  const { host } = options;
  const { maxSocketsPerCluster } = DEFAULT_HTTP_LIMITS;
  const rules = () => inForce.rules();
  const connections = new Connections({ maxPerCluster: maxSocketsPerCluster, rules });
  const certificate = () => rules().set.own;
  let port = 0;
  return {
    origin: certificateOrigin(certificate),
    cookie: sessionCookie({ isSecure: true, port: () => port }),
    identityOf: (socket) => connections.identityOf(socket),
    certificates: () => rules().set,
    listen: async (serve) => {
      const listener = secureListener({ serve, set, connections, inForce }, options, deps);
      port = await listen(listener.server, options);
      return listener;
    },
    port: () => port,
    url: () => pageUrl({ host, port, certificate: certificate() }),
  };
}

/** Only this machine can reach it. */
function plainListener(
  { serve, inForce }: Pick<SecureParts, "serve" | "inForce">,
  { limits }: Pick<DashboardOptions, "limits">,
  { certificates, log }: Pick<DashboardDeps, "certificates" | "log">,
): Listener {
  const server = createServer(serverTimeouts(DEFAULT_HTTP_LIMITS));
  handleRequests(server, limits, { serve, log, portName: PORT_NAME });
  const unsubscribe = certificates.onChange((next) => inForce.replace(next));
  const stop = (): void => {
    unsubscribe();
    certificates.stop();
  };
  return { server, stop };
}

/** Reachable from other machines: TLS as on the API's port, with certificates that are reloaded without a restart. */
function secureListener(
  { inForce, ...parts }: SecureParts,
  options: DashboardOptions,
  { certificates, clock, log }: Pick<DashboardDeps, "certificates" | "clock" | "log">,
): Listener {
  const limits = { ...DEFAULT_HTTP_LIMITS, maxSockets: options.limits.maxSockets };
  const server = createHttpsServer({ ...options, limits }, { ...parts, log, portName: PORT_NAME });
  const unsubscribe = certificates.onChange((next) => {
    const hasLostAuthorities = inForce.replace(next);
    server.setSecureContext(secureContext(next, options.tlsMinVersion));
    void parts.connections.recheckAll(hasLostAuthorities);
  });
  const cancelExpiryCheck = closeExpiredConnections(parts.connections, clock);
  const stop = (): void => {
    unsubscribe();
    cancelExpiryCheck();
    certificates.stop();
  };
  return { server, stop };
}
