import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { Socket } from "node:net";
import type { Credentials } from "./credentials.ts";

/** What goes back to the caller. */
export type Answer = WholeAnswer | StreamAnswer;

export interface WholeAnswer {
  readonly kind: "whole";
  readonly status: number;
  readonly contentType: string;
  readonly body: string | Uint8Array;
  readonly warnings?: readonly string[];
  readonly retryAfterSeconds?: number;
}

/** A watch: headers now, the rest as things happen. */
export interface StreamAnswer {
  readonly kind: "stream";
  readonly contentType: string;
  readonly run: (response: ServerResponse) => void;
}

export function send(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  response.setHeader("Content-Type", answer.contentType);
  response.setHeader("Cache-Control", "no-cache, private");
  if (answer.kind === "whole") return sendWhole(request, response, answer);
  answer.run(response);
  if (!response.headersSent) response.flushHeaders();
}

function sendWhole(request: IncomingMessage, response: ServerResponse, answer: WholeAnswer): void {
  const { status, body, warnings = [], retryAfterSeconds } = answer;
  response.statusCode = status;
  if (warnings.length > 0) response.setHeader("Warning", warnings.map(warningHeader));
  if (retryAfterSeconds !== undefined) response.setHeader("Retry-After", retryAfterSeconds);
  // What is left of a body that nobody read would be taken for the next request.
  if (!request.complete) response.setHeader("Connection", "close");
  response.setHeader("Content-Length", Buffer.byteLength(body));
  response.end(body);
}

/** Headers take no control characters and no letters beyond ASCII. */
function warningHeader(text: string): string {
  return `299 - "${text.replaceAll(/[\\"]/gu, "\\$&").replaceAll(/[^ -~]/gu, "?")}"`;
}

export interface Listener {
  readonly port: () => number;
  readonly listen: (port: number) => Promise<void>;
  /** Breaks every connection. */
  readonly cut: () => void;
  /** Stops listening and breaks every connection. */
  readonly close: () => Promise<void>;
}

const HOST = "127.0.0.1";
/** Longer than clients keep a connection for later, so that they never meet one that has just been closed. */
const KEEP_ALIVE_MS = 120_000;

/** One HTTPS listener. It asks for certificates but lets everybody in: who may not is told so over HTTP. */
export function createListener(
  { ca, server: own }: Credentials,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Listener {
  const server: Server = createServer({
    ca,
    cert: own.cert,
    key: own.key,
    requestCert: true,
    rejectUnauthorized: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    minVersion: "TLSv1.2",
  });
  server.on("request", handle);
  // A client that breaks off in the middle is no news.
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  server.on("clientError", (_error, socket) => socket.destroy());
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  let port = 0;
  return {
    port: () => port,
    cut,
    listen: async (wanted) => {
      port = await listening(server, wanted);
    },
    close: () =>
      new Promise((resolve) => {
        // An error here means that it was not listening.
        server.close(() => resolve());
        cut();
      }),
  };
}

function listening(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, HOST, () => {
      server.removeListener("error", reject);
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}
