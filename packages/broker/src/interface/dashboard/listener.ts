import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { Server as SecureServer } from "node:https";
import type { CertificateSet } from "@resource-broker/runtime";
import { CertificatesInForce } from "../http/certificates/certificates-in-force.ts";
import { Connections } from "../http/connections.ts";
import { answerParserError } from "../http/parser-errors.ts";
import { DEFAULT_HTTP_LIMITS } from "../http/ports.ts";
import type { Serve } from "../http/serve.ts";
import { createHttpsServer, secureContext } from "../http/server.ts";
import type { DashboardDeps, DashboardOptions } from "./ports.ts";

const EXPIRY_CHECK_MS = 60_000;

/** A server that is not listening yet, and what belongs to it. */
export interface Listener {
  readonly server: Server | SecureServer;
  readonly stop: () => void;
}

export type ListenerDeps = Pick<DashboardDeps, "certificates" | "machine" | "log">;

/** Only this machine can reach it. */
export function plainListener(serve: Serve, { limits }: DashboardOptions, { log }: ListenerDeps): Listener {
  const { headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs, maxHeaderBytes } = DEFAULT_HTTP_LIMITS;
  const server = createServer({
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    maxHeaderSize: maxHeaderBytes,
    // The guard asks for it, with a message.
    requireHostHeader: false,
  });
  server.maxConnections = limits.maxSockets;
  server.on("request", (request, response) => void serve.answer(request, response));
  server.on("checkContinue", (request, response) => void serve.answer(request, response));
  server.on("clientError", answerParserError);
  server.once("listening", () => {
    server.on("error", (error) => log.error({ err: error }, "the dashboard's port has a problem"));
  });
  return { server, stop: () => undefined };
}

export interface SecureParts {
  readonly set: CertificateSet;
  readonly connections: Connections;
  readonly inForce: CertificatesInForce;
}

/** What judges client certificates, as the API does. */
export function secureParts(
  set: CertificateSet,
  { adminUnit }: DashboardOptions,
  { machine }: ListenerDeps,
): SecureParts {
  const { handshakeTimeoutMs, maxSocketsPerCluster } = DEFAULT_HTTP_LIMITS;
  const inForce = new CertificatesInForce(set, { adminUnit, handshakeTimeoutMs, machine });
  const connections = new Connections({ maxPerCluster: maxSocketsPerCluster, rules: () => inForce.rules() });
  return { set, connections, inForce };
}

/** Others can reach it: TLS with the broker's certificate, which comes anew without a restart. */
export function secureListener(
  serve: Serve,
  { parts, options }: { readonly parts: SecureParts; readonly options: DashboardOptions },
  { certificates, machine, log }: ListenerDeps,
): Listener {
  const { set, connections, inForce } = parts;
  const limits = { ...DEFAULT_HTTP_LIMITS, maxSockets: options.limits.maxSockets };
  const server = createHttpsServer({ ...options, limits }, { connections, serve, set, log });
  const forget = certificates.onChange((next) => {
    const hasLostAuthorities = inForce.replace(next);
    server.setSecureContext(secureContext(next, options.tlsMinVersion));
    void connections.judgeAnew(hasLostAuthorities);
  });
  let cancelExpiryCheck = machine.after(EXPIRY_CHECK_MS, checkExpiry);
  function checkExpiry(): void {
    cancelExpiryCheck = machine.after(EXPIRY_CHECK_MS, checkExpiry);
    connections.closeExpired(machine.wallMs());
  }
  const stop = (): void => {
    forget();
    cancelExpiryCheck();
    certificates.stop();
  };
  return { server, stop };
}

export async function listen(
  server: Server | SecureServer,
  { host, port }: DashboardOptions,
): Promise<number> {
  server.listen({ port, ...(host === undefined ? {} : { host }) });
  await once(server, "listening");
  const address = server.address();
  return address === null || typeof address === "string" ? port : address.port;
}
