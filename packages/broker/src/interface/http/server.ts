import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  type Server as PlainServer,
  type ServerOptions as PlainServerOptions,
  type ServerResponse,
} from "node:http";
import { createServer as createSecureServer, type Server, type ServerOptions } from "node:https";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import { Fault, FAULTS, type Log } from "@resource-broker/base";
import { toErrorBody } from "@resource-broker/contract";
import type { CertificateSet } from "@resource-broker/runtime";
import type { Api } from "./api.ts";
import { CertificatesInForce } from "./certificates-in-force.ts";
import { type AuthenticationRules, Connections } from "./connections.ts";
import type { HttpDeps, HttpLimits, HttpOptions } from "./ports.ts";
import type { RequestHandler } from "./request-handler.ts";

const TOO_SLOW = "ERR_HTTP_REQUEST_TIMEOUT";

/** Interval of Node's timeout checks, and so the precision of the timeouts below. */
const CHECK_INTERVAL_MS = 1000;
const DEAD_PEER_PROBE_MS = 30_000;
const EXPIRY_CHECK_MS = 60_000;

export interface ListenerOptions extends HttpOptions {
  /** In log lines. */
  readonly portName: string;
  /** True: without TLS, for an address that only this machine can reach. */
  readonly isPlain?: boolean;
}

export interface ListenerDeps extends HttpDeps {
  readonly api: Pick<Api, "stopStreams">;
  /** The handler of the port's requests. */
  readonly serveWith: (port: ListenerPort) => RequestHandler;
}

export interface ListenerPort {
  readonly connections: Connections;
  /** By the certificates in force. */
  readonly rules: () => AuthenticationRules;
  readonly isStopping: () => boolean;
}

export interface Listener extends Omit<ListenerPort, "isStopping"> {
  readonly port: number;
  /** Takes no new calls, answers those under way, ends the streams. */
  readonly stop: () => Promise<void>;
}

/** Begins to listen. Over TLS it requests client certificates, which `Connections` authenticates. */
export async function startListener(options: ListenerOptions, deps: ListenerDeps): Promise<Listener> {
  const { limits, adminUnit, tlsMinVersion, isPlain = false } = options;
  const { certificates, clock, log, api } = deps;
  const set = await certificates.start();
  const { adminAuthorities = () => undefined } = deps;
  const inForce = new CertificatesInForce(set, { adminUnit, adminAuthorities, clock, ...limits });
  const rules = (): AuthenticationRules => inForce.rules();
  const connections = new Connections({ maxPerCluster: limits.maxSocketsPerCluster, rules });
  let isStopping = false;
  const serve = deps.serveWith({ connections, rules, isStopping: () => isStopping });
  const secureServer = isPlain ? undefined : httpsServer(options, set);
  secureServer?.on("secureConnection", (socket) => connections.add(socket));
  const server = secureServer ?? createServer(serverTimeouts(limits));
  handleRequests(server, options, { serve, log });

  const useCertificates = (next: CertificateSet): void => {
    const hasLostAuthorities = inForce.replace(next);
    secureServer?.setSecureContext(secureContext(next, tlsMinVersion));
    void connections.recheckAll(hasLostAuthorities).then((closed) => {
      if (closed > 0) log.info({ closed }, "connections closed: their certificates are no longer valid");
    });
  };
  const closeExpired = (): void => {
    cancelExpiryCheck = clock.after(EXPIRY_CHECK_MS, closeExpired);
    connections.closeExpired(clock.wallMs());
  };
  let cancelExpiryCheck = clock.after(EXPIRY_CHECK_MS, closeExpired);
  const unsubscribe = certificates.onChange(useCertificates);
  const port = await listen(server, options);

  const stop = async (): Promise<void> => {
    if (isStopping) return;
    isStopping = true;
    const closed = once(server, "close");
    server.close();
    unsubscribe();
    cancelExpiryCheck();
    certificates.stop();
    api.stopStreams();
    // Node counts an unused connection as busy: close all connections after the last reply.
    void serve.whenIdle().then(() => server.closeAllConnections());
    const cancel = clock.after(limits.stopTimeoutMs, () => server.closeAllConnections());
    await closed;
    cancel();
  };
  return { port, connections, rules, stop };
}

export interface HttpInterface {
  /** Begins to take calls. A replica that does not lead yet answers all but the health page with 503. */
  readonly start: () => Promise<{ readonly port: number }>;
  readonly stop: () => Promise<void>;
  readonly openConnections: () => number;
}

/** The broker over HTTPS with client certificates. */
export function createHttpInterface(api: Api, options: HttpOptions, deps: HttpDeps): HttpInterface {
  let listener: Listener | undefined;
  const serveWith = ({ connections, isStopping }: ListenerPort): RequestHandler =>
    api.handlerFor({
      identityOf: ({ socket }) =>
        socket instanceof TLSSocket ? connections.identityOf(socket) : { kind: "anonymous" },
      certificateOf: ({ socket }) =>
        socket instanceof TLSSocket ? connections.certificateOf(socket) : undefined,
      anonymousMessage: `no client certificate was shown. ${FAULTS["no-certificate"].advice}`,
      takesEnrollment: true,
      isStopping,
    });
  const unsubscribe = api.onIdentityChange((clusterId, isOver) =>
    listener?.connections.closeCluster(clusterId, isOver),
  );
  return {
    start: async () => {
      listener = await startListener({ ...options, portName: "the API port" }, { ...deps, api, serveWith });
      return listener;
    },
    stop: async () => {
      unsubscribe();
      await listener?.stop();
    },
    openConnections: () => listener?.connections.size ?? 0,
  };
}

function httpsServer({ tlsMinVersion, limits }: HttpOptions, set: CertificateSet): Server {
  return createSecureServer({
    ...secureContext(set, tlsMinVersion),
    ...serverTimeouts(limits),
    handshakeTimeout: limits.handshakeTimeoutMs,
    requestCert: true,
    // Clients without a valid certificate get an HTTP error.
    rejectUnauthorized: false,
  });
}

function handleRequests(
  server: PlainServer | Server,
  { limits, portName }: Pick<ListenerOptions, "limits" | "portName">,
  { serve, log }: { readonly serve: RequestHandler; readonly log: Log },
): void {
  server.maxConnections = limits.maxSockets;
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
function secureContext({ files }: CertificateSet, minVersion: HttpOptions["tlsMinVersion"]): ServerOptions {
  // `Connections` checks revocation lists: OpenSSL would reject every client if a list is out of date.
  const { cert, key, ca } = files;
  return { cert, key, ca, minVersion };
}

/** Timeouts and header limits of a server. */
function serverTimeouts(limits: HttpLimits): PlainServerOptions {
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
async function listen(
  server: PlainServer | Server,
  { port, host }: Pick<HttpOptions, "port" | "host">,
): Promise<number> {
  server.listen({ port, ...(host === undefined ? {} : { host }) });
  await once(server, "listening");
  const address = server.address();
  return address === null || typeof address === "string" ? port : address.port;
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

function refusalFor(code: string | undefined): { readonly status: string; readonly fault: Fault } {
  switch (code) {
    case "HPE_HEADER_OVERFLOW": {
      const fault = new Fault("too-large", "the headers are too large; send at most 16 KiB of them");
      return { status: "431 Request Header Fields Too Large", fault };
    }
    case TOO_SLOW: {
      const fault = new Fault("malformed", "the request did not arrive in time; send it at once");
      return { status: "408 Request Timeout", fault };
    }
    default: {
      const fault = new Fault("malformed", `this is not a request in HTTP/1.1 (${code ?? "unknown"})`);
      return { status: "400 Bad Request", fault };
    }
  }
}
