import { request } from "node:https";
import { text } from "node:stream/consumers";
import type { Credentials } from "../certificates/test-certificates.ts";
import type { ServerReply } from "./control-plane.ts";

export interface ServerRequest {
  readonly port: number;
  readonly credentials: Credentials;
  readonly method: string;
  readonly path: string;
  readonly body?: object;
}

const TIMEOUT_MS = 30_000;

/** One request on a connection of its own: none is left over from a server that was killed since. */
export function requestServer({
  port,
  credentials,
  method,
  path,
  body,
}: ServerRequest): Promise<ServerReply> {
  const { cert, key, ca } = credentials;
  const headers = { accept: "application/json", "content-type": contentType(method) };
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, method, path, headers, cert, key, ca, agent: false });
    sent.setTimeout(TIMEOUT_MS, () => sent.destroy(new Error(`no answer to ${method} ${path}`)));
    sent.once("error", reject);
    sent.once("response", (response) => {
      text(response).then(
        (content) => resolve({ status: response.statusCode ?? 0, body: parsed(content) }),
        reject,
      );
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

function contentType(method: string): string {
  return method === "PATCH" ? "application/merge-patch+json" : "application/json";
}

function parsed(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return content;
  }
}
