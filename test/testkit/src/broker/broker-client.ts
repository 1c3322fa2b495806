import { once } from "node:events";
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { HEADER, PATH, PROTOCOL_VERSION } from "@resource-broker/contract";
import type { Credentials } from "../certificates/test-certificates.ts";
import { type EventStream, eventStream } from "./event-stream.ts";

const HOST = "127.0.0.1";
/** Only a guard: a broker on a busy machine takes its time. */
const DEFAULT_TIMEOUT_MS = 30_000;

export interface ClientOptions {
  readonly clusterId: string;
  readonly credentials: Pick<Credentials, "cert" | "key" | "ca">;
  readonly port: number;
  /** Connections at the same time; the broker allows 64 for each cluster. */
  readonly maxSockets?: number;
}

/** How a client breaks off: with half of the body sent, or so long after the whole request was sent. */
export type HangUp = "midway" | { readonly afterMs: number };

export interface CallOptions {
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The Idempotency-Key. */
  readonly key?: string;
  readonly hangUp?: HangUp;
  readonly timeoutMs?: number;
}

export interface BrokerReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** What the body says, for JSON; the text otherwise. */
  readonly body: unknown;
}

/**
 * A raw client for tests: mTLS with keep-alive connections, replies as they come, calls that are broken off on purpose.
 * A program uses `@resource-broker/client`.
 */
export interface BrokerClient {
  readonly clusterId: string;
  /** Rejects when the connection breaks, also when it was this client that hung up. */
  readonly request: (method: string, path: string, options?: CallOptions) => Promise<BrokerReply>;
  /** Opens the stream of instructions; resolves once it is open. */
  readonly watch: (lastEventId?: string) => Promise<EventStream>;
  /** Closes every connection; later requests open new ones. */
  readonly close: () => void;
}

export function brokerClient({ clusterId, credentials, port, maxSockets = 8 }: ClientOptions): BrokerClient {
  const { cert, key, ca } = credentials;
  const tls = { cert, key, ca };
  const makeAgent = (): Agent => new Agent({ ...tls, keepAlive: true, maxSockets, scheduling: "fifo" });
  let agent = makeAgent();
  const streams = new Set<EventStream>();

  const open = (method: string, path: string, headers: Readonly<Record<string, string>>, own?: Agent) =>
    request({ host: HOST, port, method, path, headers, agent: own ?? agent });

  const watch = async (lastEventId?: string): Promise<EventStream> => {
    const headers = {
      [HEADER.agentProtocol]: String(PROTOCOL_VERSION),
      ...(lastEventId === undefined ? {} : { "Last-Event-ID": lastEventId }),
    };
    // A connection of its own: a stream would take one away from the others for as long as it lasts.
    const sent = open("GET", PATH.instructionStream, headers, new Agent({ ...tls, keepAlive: false }));
    sent.end();
    const response = await responseTo(sent);
    if (response.statusCode !== 200) throw new Error(`no stream: ${response.statusCode}`);
    const stream = eventStream(response);
    streams.add(stream);
    return stream;
  };

  return {
    clusterId,
    request: async (method, path, options = {}) => {
      const content = options.body === undefined ? undefined : Buffer.from(JSON.stringify(options.body));
      const sent = open(method, path, headersOf(options, content));
      const timer = setTimeout(
        () => sent.destroy(new Error(`${method} ${path}: no answer in time`)),
        options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      );
      try {
        return await exchange(sent, content, options.hangUp);
      } finally {
        clearTimeout(timer);
      }
    },
    watch,
    close: () => {
      for (const stream of streams) stream.close();
      streams.clear();
      agent.destroy();
      agent = makeAgent();
    },
  };
}

function headersOf({ headers = {}, key }: CallOptions, content: Buffer | undefined) {
  return {
    [HEADER.agentProtocol]: String(PROTOCOL_VERSION),
    ...(content === undefined
      ? {}
      : { "Content-Type": "application/json", "Content-Length": String(content.length) }),
    ...(key === undefined ? {} : { [HEADER.idempotencyKey]: key }),
    ...headers,
  };
}

async function exchange(
  sent: ClientRequest,
  content: Buffer | undefined,
  hangUp: HangUp | undefined,
): Promise<BrokerReply> {
  const answered = responseTo(sent).then(replyFrom);
  const [reply] = await Promise.all([answered, send(sent, content, hangUp)]);
  return reply;
}

async function send(sent: ClientRequest, content: Buffer | undefined, hangUp?: HangUp): Promise<void> {
  if (hangUp === "midway") {
    sent.flushHeaders();
    sent.write(content?.subarray(0, content.length >> 1) ?? "", () => sent.destroy(hungUp()));
    return;
  }
  sent.end(content);
  if (hangUp === undefined) return;
  await once(sent, "finish");
  await sleep(hangUp.afterMs);
  sent.destroy(hungUp());
}

function hungUp(): Error {
  return new Error("hung up before the answer");
}

function responseTo(sent: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.once("response", resolve);
    // Stays: a connection may break again after it has failed once, and nobody else listens.
    sent.on("error", reject);
    sent.once("close", () => reject(new Error("the connection closed before an answer came")));
  });
}

async function replyFrom(response: IncomingMessage): Promise<BrokerReply> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of response) chunks.push(chunk as Uint8Array);
  if (!response.complete) throw new Error("the answer broke off");
  const text = Buffer.concat(chunks).toString("utf8");
  const isJson = response.headers["content-type"]?.startsWith("application/json") === true;
  const body: unknown = isJson ? JSON.parse(text) : text;
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}
