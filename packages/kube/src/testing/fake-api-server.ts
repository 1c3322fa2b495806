import { createServer as createPlain, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecure } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { TLSSocket } from "node:tls";

/** A request as it came in. */
export interface SeenRequest {
  readonly method: string;
  /** Without its query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  /** The same number for requests on the same connection. */
  readonly connection: number;
  /** The Common Name of the client's certificate. */
  readonly client?: string;
  readonly isSessionReused: boolean;
}

/** What the server does with a request; whatever is thrown cuts the connection. */
export type Script = (request: SeenRequest, reply: Reply) => void | Promise<void>;

export interface Reply {
  readonly json: (status: number, body: unknown, headers?: Readonly<Record<string, string>>) => void;
  readonly bytes: (status: number, type: string, body: Uint8Array | string) => void;
  /** Begins a reply that goes on for as long as the test wants. */
  readonly stream: (type?: string) => OpenStream;
  /** Begins to answer and then falls silent. */
  readonly half: (status: number) => void;
  /** Cuts the connection without a word. */
  readonly cut: () => void;
}

export interface OpenStream {
  readonly write: (chunk: string | Uint8Array) => void;
  readonly end: () => void;
  readonly cut: () => void;
  /** Resolves when the client has gone away. */
  readonly closed: Promise<void>;
}

export interface FakeApiServer {
  readonly url: string;
  readonly port: number;
  readonly seen: SeenRequest[];
  /** From now on requests are answered like this. */
  readonly answer: (script: Script) => void;
  /** How many connections were ever opened. */
  readonly connectionCount: () => number;
  readonly stop: () => Promise<void>;
}

export interface ServerCertificates {
  readonly cert: string;
  readonly key: string;
  /** Whose client certificates are accepted. */
  readonly ca?: string;
}

/** A server that says what a test tells it to: HTTPS with certificates, plain HTTP without. */
export async function fakeApiServer(certificates?: ServerCertificates): Promise<FakeApiServer> {
  const seen: SeenRequest[] = [];
  const sockets = new Map<Socket, number>();
  let opened = 0;
  let script: Script = (_, reply) => reply.json(404, { kind: "Status", code: 404, reason: "NotFound" });

  const onRequest = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const incoming = seenRequest(request, Buffer.concat(chunks).toString("utf8"), sockets);
    seen.push(incoming);
    await script(incoming, replyWith(response));
  };
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    onRequest(request, response).catch(() => request.socket.destroy());
  };
  const server =
    certificates === undefined
      ? createPlain(handle)
      : createSecure(
          { ...certificates, requestCert: certificates.ca !== undefined, rejectUnauthorized: false },
          handle,
        );
  server.on(certificates === undefined ? "connection" : "secureConnection", (socket: Socket) => {
    sockets.set(socket, ++opened);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${certificates === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    port,
    seen,
    answer: (next) => {
      script = next;
    },
    connectionCount: () => opened,
    stop: async () => {
      for (const socket of sockets.keys()) socket.destroy();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}

function seenRequest(
  request: IncomingMessage,
  body: string,
  sockets: ReadonlyMap<Socket, number>,
): SeenRequest {
  const url = new URL(request.url ?? "", "http://server");
  const socket = request.socket as Partial<TLSSocket> & Socket;
  const client = socket.getPeerCertificate?.().subject?.CN;
  return {
    method: request.method ?? "",
    path: url.pathname,
    query: url.searchParams,
    headers: request.headers,
    body,
    connection: sockets.get(request.socket) ?? 0,
    isSessionReused: socket.isSessionReused?.() ?? false,
    ...(typeof client === "string" ? { client } : {}),
  };
}

function replyWith(response: ServerResponse): Reply {
  const whole: Reply["bytes"] = (status, type, body) => {
    response.writeHead(status, { "content-type": type });
    response.end(body);
  };
  return {
    bytes: whole,
    json: (status, body, headers = {}) => {
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      whole(status, "application/json", JSON.stringify(body));
    },
    stream: (type = "application/json") => {
      response.writeHead(200, { "content-type": type });
      response.flushHeaders();
      return {
        write: (chunk) => void response.write(chunk),
        end: () => void response.end(),
        cut: () => void response.destroy(),
        closed: new Promise((resolve) => void response.on("close", () => resolve())),
      };
    },
    half: (status) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.write('{"kind":');
    },
    cut: () => void response.destroy(),
  };
}
