import type { IncomingHttpHeaders } from "node:http";
import { Agent, request } from "node:https";

/** What a client shows of itself; nothing: a client without a certificate. */
export interface ClientCredentials {
  readonly cert?: string;
  readonly key?: string;
  readonly ca: string;
}

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Sent as JSON; a string or buffer is sent as it is. */
  readonly body?: unknown;
}

export interface TestReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The text as JSON; undefined where it is none. */
  readonly json: unknown;
}

export type CallAs = (
  credentials: ClientCredentials,
  target: `${string} /${string}`,
  options?: CallOptions,
) => Promise<TestReply>;

/** Calls a broker over real TLS; `target` reads `GET /healthz`. Connections are kept for the next call of the same client. */
export function caller(port: number): { readonly call: CallAs; readonly close: () => void } {
  const agents = new Map<ClientCredentials, Agent>();
  const agentOf = (credentials: ClientCredentials): Agent => {
    const agent = agents.get(credentials) ?? new Agent({ keepAlive: true, ...credentials });
    agents.set(credentials, agent);
    return agent;
  };
  const call: CallAs = (credentials, target, { headers = {}, body } = {}) =>
    new Promise((resolve, reject) => {
      const space = target.indexOf(" ");
      const content = encoded(body);
      const sent = request({
        host: "localhost",
        port,
        method: target.slice(0, space),
        path: target.slice(space + 1),
        agent: agentOf(credentials),
        headers: {
          ...(content === undefined
            ? {}
            : { "Content-Type": "application/json", "Content-Length": String(content.length) }),
          ...headers,
        },
      });
      sent.on("error", reject);
      sent.on("response", (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parsed(text) });
        });
      });
      sent.end(content);
    });
  return {
    call,
    close: () => {
      for (const agent of agents.values()) agent.destroy();
    },
  };
}

function encoded(body: unknown): Buffer | undefined {
  if (body === undefined || Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
