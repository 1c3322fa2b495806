import { request } from "node:https";
import { text } from "node:stream/consumers";
import type { Credentials } from "../certificates/test-certificates.ts";
import type { ServerReply } from "./control-plane.ts";

export interface Question {
  readonly port: number;
  readonly credentials: Credentials;
  readonly method: string;
  readonly path: string;
  readonly body?: object;
}

const PATIENCE_MS = 30_000;

/** One request on a connection of its own: none is left over from a server that was killed since. */
export function askServer({ port, credentials, method, path, body }: Question): Promise<ServerReply> {
  const { cert, key, ca } = credentials;
  const headers = { accept: "application/json", "content-type": contentType(method) };
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, method, path, headers, cert, key, ca, agent: false });
    sent.setTimeout(PATIENCE_MS, () => sent.destroy(new Error(`no answer to ${method} ${path}`)));
    sent.once("error", reject);
    sent.once("response", (response) => {
      text(response).then(
        (said) => resolve({ status: response.statusCode ?? 0, body: parsed(said) }),
        reject,
      );
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

function contentType(method: string): string {
  return method === "PATCH" ? "application/merge-patch+json" : "application/json";
}

function parsed(said: string): unknown {
  try {
    return JSON.parse(said);
  } catch {
    return said;
  }
}
