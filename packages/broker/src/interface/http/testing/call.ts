import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { Agent, request as secureRequest } from "node:https";
import { text as readText } from "node:stream/consumers";

/** What a client shows of itself; nothing: a client without a certificate. */
export interface ClientCredentials {
  readonly cert?: string;
  readonly key?: string;
  readonly ca: string;
}

/** Where a test calls. */
export interface Target {
  readonly port: number;
  /** Over TLS; absent: plain HTTP. */
  readonly credentials?: ClientCredentials;
  /** Keeps connections for the next call; absent: each call has its own. */
  readonly agent?: Agent;
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

/** One request with exactly these headers, as no browser would let a page send it. `what` reads `GET /healthz`. */
export async function send(target: Target, what: string, options?: CallOptions): Promise<TestReply> {
  const response = await open(target, what, options);
  const text = await readText(response);
  return { status: response.statusCode ?? 0, headers: response.headers, text, json: parsed(text) };
}

export type CallAs = (
  credentials: ClientCredentials,
  target: `${string} /${string}`,
  options?: CallOptions,
) => Promise<TestReply>;

/** Calls a broker over real TLS. Connections are kept for the next call of the same client. */
export function caller(port: number): { readonly call: CallAs; readonly close: () => void } {
  const agents = new Map<ClientCredentials, Agent>();
  const agentOf = (credentials: ClientCredentials): Agent => {
    const agent = agents.get(credentials) ?? new Agent({ keepAlive: true, ...credentials });
    agents.set(credentials, agent);
    return agent;
  };
  return {
    call: (credentials, what, options) =>
      send({ port, credentials, agent: agentOf(credentials) }, what, options),
    close: () => {
      for (const agent of agents.values()) agent.destroy();
    },
  };
}

/** An open stream of events. */
export interface Listening {
  readonly status: number;
  readonly received: () => string;
  /** Resolves once the text was heard. */
  readonly receives: (wanted: string | RegExp) => Promise<string>;
  readonly closed: Promise<void>;
  readonly close: () => void;
}

export async function listenTo(target: Target, what: string, options?: CallOptions): Promise<Listening> {
  const response = await open(target, what, options);
  let received = "";
  response.setEncoding("utf8");
  response.on("error", () => undefined);
  response.on("data", (text: string) => {
    received += text;
  });
  const closed = new Promise<void>((end) => void response.once("close", () => end()));
  const receives: Listening["receives"] = (wanted) =>
    new Promise((found, fail) => {
      const look = (): void => {
        if (typeof wanted === "string" ? received.includes(wanted) : wanted.test(received)) found(received);
      };
      response.on("data", look);
      void closed.then(() => fail(new Error(`closed after: ${received}`)));
      look();
    });
  const { statusCode: status = 0 } = response;
  return { status, received: () => received, receives, closed, close: () => response.destroy() };
}

function open(
  { port, credentials, agent }: Target,
  what: string,
  { headers = {}, body }: CallOptions = {},
): Promise<IncomingMessage> {
  const space = what.indexOf(" ");
  const content = encoded(body);
  const type =
    content === undefined
      ? {}
      : { "Content-Type": "application/json", "Content-Length": String(content.length) };
  const options = {
    host: "127.0.0.1",
    port,
    method: what.slice(0, space),
    path: what.slice(space + 1),
    agent: agent ?? false,
    headers: { ...type, ...headers },
  };
  return new Promise((resolve, reject) => {
    const sent =
      credentials === undefined
        ? request(options, resolve)
        : secureRequest({ ...options, ...credentials, servername: "localhost" }, resolve);
    sent.on("error", reject);
    sent.end(content);
  });
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
