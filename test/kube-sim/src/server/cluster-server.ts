import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { Socket } from "node:net";
import type { Credentials } from "./credentials.ts";

export interface Listener {
  readonly port: () => number;
  readonly listen: (port: number) => Promise<void>;
  /** Breaks every connection. */
  readonly cut: () => void;
  /** Stops listening and breaks every connection. */
  readonly close: () => Promise<void>;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const HOST = "127.0.0.1";
/** Longer than clients keep a connection for later, so that they never meet one that has just been closed. */
const KEEP_ALIVE_MS = 120_000;

/** One HTTPS listener. It asks for certificates but lets everybody in: who may not is told so over HTTP. */
export function createListener({ ca, server: own }: Credentials, handle: Handler): Listener {
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
