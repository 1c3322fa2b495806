import { once } from "node:events";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { TLSSocket } from "node:tls";
import { HEADER, PATH, PROTOCOL_VERSION } from "@resource-broker/contract";
import type { Credentials } from "../certificates/test-certificates.ts";

const HOST = "127.0.0.1";

/** What a client sent. */
export interface ReceivedCall {
  /** The Common Name of its certificate. */
  readonly clusterId: string;
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

export type Script = (response: ServerResponse, received: ReceivedCall) => unknown;

export interface FakeBrokerOptions {
  readonly credentials: Pick<Credentials, "cert" | "key" | "ca">;
  /** Is given what closes the server: `onTestFinished`, for one. */
  readonly whenDone: (cleanUp: () => Promise<void>) => void;
  /** How it answers. Absent: with an empty list. */
  readonly script?: Script;
  /** True: callers need no certificate, as for joining. */
  readonly takesAnyone?: boolean;
  /** How it answers whether it is there. Absent: as a broker of this release. */
  readonly health?: Script;
}

/** A server that listens where a broker should and answers as a test says. */
export interface FakeBroker {
  readonly port: number;
  readonly url: string;
  /** Everything that was asked, in order. */
  readonly received: readonly ReceivedCall[];
  /** How it answers from now on. */
  readonly script: (script: Script) => void;
}

/** What a broker of this release says in every answer. */
export const CURRENT = { [HEADER.brokerProtocol]: String(PROTOCOL_VERSION), [HEADER.ledgerId]: "led-1" };

/** A JSON answer of such a broker; `more` replaces headers. */
export function reply(status: number, body: unknown, more: Readonly<Record<string, string>> = {}): Script {
  const headers = { ...CURRENT, "Content-Type": "application/json", ...more };
  return (response) => response.writeHead(status, headers).end(JSON.stringify(body));
}

export async function startFakeBroker(options: FakeBrokerOptions): Promise<FakeBroker> {
  const { cert, key, ca } = options.credentials;
  const { health = (response) => response.writeHead(200, CURRENT).end("ok") } = options;
  const received: ReceivedCall[] = [];
  let script = options.script ?? reply(200, []);
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = "", url = "", headers, rawHeaders } = request;
    const clusterId = commonNameIn(request);
    const call = { clusterId, method, url, headers, rawHeaders, body: await text(request) };
    received.push(call);
    await (url === PATH.health ? health : script)(response, call);
  };
  // Without a right certificate there is no HTTP at all, unless anyone may call.
  const rejectUnauthorized = options.takesAnyone !== true;
  const server = createServer({ cert, key, ca, requestCert: true, rejectUnauthorized });
  // A client decides by itself when an idle connection has served its time.
  server.keepAliveTimeout = 0;
  server.on("request", (request, response) => void serve(request, response));
  server.listen(0, HOST);
  await once(server, "listening");
  options.whenDone(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `https://${HOST}:${port}`,
    received,
    script: (next) => {
      script = next;
    },
  };
}

function commonNameIn({ socket }: IncomingMessage): string {
  const name: unknown =
    socket instanceof TLSSocket ? socket.getPeerX509Certificate()?.toLegacyObject().subject.CN : undefined;
  return typeof name === "string" ? name : "";
}
