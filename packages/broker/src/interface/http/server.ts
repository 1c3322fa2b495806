import type {
  IncomingMessage,
  Server as PlainServer,
  ServerOptions as PlainServerOptions,
  ServerResponse,
} from "node:http";
import { createServer, type Server, type ServerOptions } from "node:https";
import type { CertificateSet, Log } from "@resource-broker/runtime";
import type { Connections } from "./connections.ts";
import { answerParserError } from "./parser-errors.ts";
import type { HttpLimits, HttpOptions } from "./ports.ts";
import type { Serve } from "./serve.ts";

/** How often Node looks for requests that take too long: the time-outs below are kept this exactly. */
const CHECK_INTERVAL_MS = 1000;
const DEAD_PEER_PROBE_MS = 30_000;

export interface ServerParts extends AttendedBy {
  readonly connections: Connections;
  readonly set: CertificateSet;
}

/** Who answers at a port, and how the port is called where it is told of. */
interface AttendedBy {
  readonly serve: Serve;
  readonly log: Log;
  readonly portName: string;
}

/** An HTTPS server that asks for client certificates, lets everybody in and leaves judging to `Connections`. */
export function createHttpsServer({ tlsMinVersion, limits }: HttpOptions, parts: ServerParts): Server {
  const { connections, set } = parts;
  const server = createServer({
    ...secureContext(set, tlsMinVersion),
    ...patience(limits),
    handshakeTimeout: limits.handshakeTimeoutMs,
    requestCert: true,
    // Whoever has no certificate, or a wrong one, is told so over HTTP.
    rejectUnauthorized: false,
  });
  server.on("secureConnection", (socket) => connections.add(socket));
  attend(server, limits, parts);
  return server;
}

/** Answers whatever comes in at a port, with or without TLS. */
export function attend(
  server: PlainServer | Server,
  { maxSockets }: Pick<HttpLimits, "maxSockets">,
  { serve, log, portName }: AttendedBy,
): void {
  server.maxConnections = maxSockets;
  const answer = (request: IncomingMessage, response: ServerResponse): void =>
    void serve.answer(request, response);
  server.on("request", answer);
  // Whoever asks before sending a body is told to go on only when the body will be read.
  server.on("checkContinue", answer);
  server.on("clientError", answerParserError);
  // Too many open files, for example: the next connection may work again. Before, whoever starts us hears of it.
  server.once("listening", () => {
    server.on("error", (error) => log.error({ err: error }, `${portName} has a problem`));
  });
}

/** Also for every later set: what is left out here falls back to Node's defaults. */
export function secureContext(
  { files }: CertificateSet,
  minVersion: HttpOptions["tlsMinVersion"],
): ServerOptions {
  // Revocation lists are read by `Connections`: OpenSSL would lock everybody out when one is out of date.
  const { cert, key, ca } = files;
  return { cert, key, ca, minVersion };
}

/** How long and how much a server listens to one caller. */
export function patience(limits: HttpLimits): PlainServerOptions {
  return {
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    maxHeaderSize: limits.maxHeaderBytes,
    insecureHTTPParser: false,
    // `serve` asks for it, with a message.
    requireHostHeader: false,
    keepAlive: true,
    keepAliveInitialDelay: DEAD_PEER_PROBE_MS,
  };
}
