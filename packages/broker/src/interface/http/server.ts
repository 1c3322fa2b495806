import { once } from "node:events";
import type {
  IncomingMessage,
  Server as PlainServer,
  ServerOptions as PlainServerOptions,
  ServerResponse,
} from "node:http";
import { createServer, type Server, type ServerOptions } from "node:https";
import type { Duplex } from "node:stream";
import { type Clock, Fault, type Log } from "@resource-broker/base";
import { toErrorBody } from "@resource-broker/contract";
import type { CertificateSet } from "@resource-broker/runtime";
import type { Connections } from "./connections.ts";
import type { HttpLimits, HttpOptions } from "./ports.ts";
import type { RequestHandler } from "./request-handler.ts";

const TOO_SLOW = "ERR_HTTP_REQUEST_TIMEOUT";

interface Refusal {
  readonly status: string;
  readonly fault: Fault;
}

/** Interval of Node's timeout checks, and so the precision of the timeouts below. */
const CHECK_INTERVAL_MS = 1000;
const DEAD_PEER_PROBE_MS = 30_000;
const EXPIRY_CHECK_MS = 60_000;

export interface ServerParts extends PortHandler {
  readonly connections: Connections;
  readonly set: CertificateSet;
}

/** The handler of a port, and the name of the port in log lines. */
interface PortHandler {
  readonly serve: RequestHandler;
  readonly log: Log;
  readonly portName: string;
}

/** An HTTPS server that requests client certificates. `Connections` authenticates them. */
export function createHttpsServer({ tlsMinVersion, limits }: HttpOptions, parts: ServerParts): Server {
  const { connections, set } = parts;
  const server = createServer({
    ...secureContext(set, tlsMinVersion),
    ...serverTimeouts(limits),
    handshakeTimeout: limits.handshakeTimeoutMs,
    requestCert: true,
    // Clients without a valid certificate get an HTTP error.
    rejectUnauthorized: false,
  });
  server.on("secureConnection", (socket) => connections.add(socket));
  handleRequests(server, limits, parts);
  return server;
}

/** Answers whatever comes in at a port, with or without TLS. */
export function handleRequests(
  server: PlainServer | Server,
  { maxSockets }: Pick<HttpLimits, "maxSockets">,
  { serve, log, portName }: PortHandler,
): void {
  server.maxConnections = maxSockets;
  const answer = (request: IncomingMessage, response: ServerResponse): void =>
    void serve.answer(request, response);
  server.on("request", answer);
  // `Expect: 100-continue`: the client is told to continue only if the body will be read.
  server.on("checkContinue", answer);
  server.on("clientError", answerParserError);
  // For example too many open files: the next connection may work. Errors before listening are reported by start().
  server.once("listening", () => {
    server.on("error", (error) => log.error({ err: error }, `${portName} has a problem`));
  });
}

/** Also for every later set: what is left out here falls back to Node's defaults. */
export function secureContext(
  { files }: CertificateSet,
  minVersion: HttpOptions["tlsMinVersion"],
): ServerOptions {
  // `Connections` checks revocation lists: OpenSSL would reject every client if a list is out of date.
  const { cert, key, ca } = files;
  return { cert, key, ca, minVersion };
}

/** Timeouts and header limits of a server. */
export function serverTimeouts(limits: HttpLimits): PlainServerOptions {
  return {
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    maxHeaderSize: limits.maxHeaderBytes,
    insecureHTTPParser: false,
    // The request handler checks it and returns a message.
    requireHostHeader: false,
    keepAlive: true,
    keepAliveInitialDelay: DEAD_PEER_PROBE_MS,
  };
}

/** Begins to listen and returns the port, which the system chooses for port 0. */
export async function listen(
  server: PlainServer | Server,
  { port, host }: Pick<HttpOptions, "port" | "host">,
): Promise<number> {
  server.listen({ port, ...(host === undefined ? {} : { host }) });
  await once(server, "listening");
  const address = server.address();
  return address === null || typeof address === "string" ? port : address.port;
}

/** Closes connections whose certificate has expired, until the returned function is called. */
export function closeExpiredConnections(
  connections: Connections,
  clock: Pick<Clock, "after" | "wallMs">,
): () => void {
  let cancel = clock.after(EXPIRY_CHECK_MS, check);
  function check(): void {
    cancel = clock.after(EXPIRY_CHECK_MS, check);
    connections.closeExpired(clock.wallMs());
  }
  return () => cancel();
}

/**
 * What Node's parser refused never becomes a request: the answer is written to the socket itself. Everything else
 * that comes here (failed handshakes, broken connections) has nobody left to answer.
 */
function answerParserError(error: NodeJS.ErrnoException, socket: Duplex): void {
  const isAboutRequest = error.code?.startsWith("HPE_") === true || error.code === TOO_SLOW;
  if (!isAboutRequest || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, fault } = refusalFor(error.code);
  const body = JSON.stringify(toErrorBody(fault));
  const head = `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}`;
  // Close the socket even if the client does not.
  socket.end(`${head}\r\nConnection: close\r\n\r\n${body}`, () => socket.destroy());
}

function refusalFor(code: string | undefined): Refusal {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return {
        status: "431 Request Header Fields Too Large",
        fault: new Fault("too-large", "the headers are too large; send at most 16 KiB of them"),
      };
    case TOO_SLOW:
      return {
        status: "408 Request Timeout",
        fault: new Fault("malformed", "the request did not arrive in time; send it at once"),
      };
    default:
      return {
        status: "400 Bad Request",
        fault: new Fault("malformed", `this is not a request in HTTP/1.1 (${code ?? "unknown"})`),
      };
  }
}
