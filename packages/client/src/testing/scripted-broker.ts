import { once } from "node:events";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { ReservationDTO } from "@resource-broker/contract";
import type { Credentials } from "@resource-broker/testkit";
import { onTestFinished } from "vitest";

/** What a client sent. */
export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

export type Script = (response: ServerResponse, received: Received) => unknown;

/** A server that answers as a test says. It ends with the test. */
export interface ScriptedBroker {
  readonly url: string;
  readonly received: readonly Received[];
  /** How it answers from now on. */
  readonly script: (script: Script) => void;
}

export const reservation = (id: string): ReservationDTO => ({
  id,
  requesterID: "rome",
  targetClusterID: "paris",
  requestedResources: { cpu: "2", memory: "4Gi" },
  status: { phase: "Reserved", message: "" },
  createdAt: "2026-07-01T10:00:00Z",
});

export const CURRENT = { "Broker-Protocol": "2", "Ledger-ID": "led-1" } as const;

/** A JSON answer of a broker of our own; `more` replaces headers. */
export function reply(status: number, body: unknown, more: Readonly<Record<string, string>> = {}): Script {
  const headers = { ...CURRENT, "Content-Type": "application/json", ...more };
  return (response) => response.writeHead(status, headers).end(JSON.stringify(body));
}

export async function scriptedBroker(
  { cert, key, ca }: Pick<Credentials, "cert" | "key" | "ca">,
  first: Script = reply(200, []),
): Promise<ScriptedBroker> {
  const received: Received[] = [];
  let script = first;
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = "", url = "", headers, rawHeaders } = request;
    let body = "";
    request.setEncoding("utf8");
    for await (const piece of request) body += String(piece);
    const each = { method, url, headers, rawHeaders, body };
    received.push(each);
    if (url === "/healthz") response.writeHead(200, CURRENT).end("ok");
    else script(response, each);
  };
  const server = createServer({ cert, key, ca, requestCert: true, rejectUnauthorized: false });
  server.on("request", (request, response) => void serve(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `https://127.0.0.1:${port}`,
    received,
    script: (next) => {
      script = next;
    },
  };
}
