import type { ClientRequest, IncomingMessage } from "node:http";
import { type Agent, request } from "node:https";
import type { Socket } from "node:net";
import { type Clock, Fault } from "@resource-broker/base";
import { HEADER, PROTOCOL_VERSION } from "@resource-broker/contract";
import type { BrokerUrl } from "./endpoints.ts";

const CONNECT_MS = 5000;
const ANSWER_MS = 10_000;

/** What is sent. */
export interface Message {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** Where and until when it is sent. */
export interface Route {
  readonly url: BrokerUrl;
  readonly agent: Agent;
  /** On the monotonic clock. */
  readonly deadlineMs: number;
  /** Also limits the time until the connection and the answer. Absent: 5 s and 10 s. */
  readonly stepMs?: number;
}

export interface CallMessage {
  readonly method: Message["method"];
  readonly path: string;
  readonly body?: unknown;
  /** The Idempotency-Key. */
  readonly key?: string;
}

const PROTOCOL = { [HEADER.agentProtocol]: String(PROTOCOL_VERSION) };

export function messageOf(
  { method, path, body, key }: CallMessage,
  more: Readonly<Record<string, string>> = {},
): Message {
  return {
    method,
    path,
    headers: {
      ...PROTOCOL,
      ...more,
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...(key === undefined ? {} : { [HEADER.idempotencyKey]: key }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  };
}

export type Exchanged<T> =
  | { readonly kind: "answered"; readonly value: T }
  | {
      readonly kind: "failed";
      /** As Node reports it, a Fault of the reader, or a LimitError. */
      readonly error: unknown;
      /** The time limit that ended it, also where Node reports only a broken connection. */
      readonly exceeded?: LimitError;
      /** False: the broker has certainly not received the call. */
      readonly mayHaveArrived: boolean;
      /** True: an idle connection was being closed, which says nothing about the broker. */
      readonly wasStale: boolean;
    };

/** A limit of an exchange that was exceeded: milliseconds until a step, or the bytes of the answer. */
export class LimitError extends Error {
  readonly exceeded: "connect" | "answer" | "call" | "bytes";
  readonly limit: number;

  constructor(exceeded: LimitError["exceeded"], limit: number) {
    super(`${exceeded} > ${limit}`);
    this.exceeded = exceeded;
    this.limit = limit;
  }
}

/** Reads the answer; a rejection counts as no answer. */
export type ReadAnswer<T> = (response: IncomingMessage) => T | Promise<T>;

/** One request and its answer, on one connection. */
export interface Exchanger {
  /** Never rejects. */
  readonly exchange: <T>(message: Message, route: Route, read: ReadAnswer<T>) => Promise<Exchanged<T>>;
  /** Aborts pending requests; later requests fail at once. */
  readonly close: () => void;
}

type ExchangeClock = Pick<Clock, "monotonicMs" | "after">;

/** `program`: what the program is, for messages. */
export function createExchanger(clock: ExchangeClock, program: string): Exchanger {
  const pending = new Set<ClientRequest>();
  let isClosed = false;
  const closedFault = (): Fault =>
    new Fault("unreachable", `the connection to the broker is closed: the ${program} is stopping`);

  const exchange: Exchanger["exchange"] = async (message, route, read) => {
    if (isClosed) return { kind: "failed", error: closedFault(), mayHaveArrived: false, wasStale: false };
    const sent = request(requestOptions(message, route));
    const progress = limitConnection(sent, clock, route);
    pending.add(sent);
    try {
      const answered = answerTo(sent);
      sent.end(message.body);
      return { kind: "answered", value: await read(await answered) };
    } catch (error) {
      const hasSent = progress.isConnected();
      const exceeded = progress.exceeded();
      sent.destroy();
      return {
        kind: "failed",
        error: isClosed ? closedFault() : error,
        mayHaveArrived: hasSent,
        ...(exceeded === undefined ? {} : { exceeded }),
        wasStale: hasSent && sent.reusedSocket && isBroken(error),
      };
    } finally {
      progress.stop();
      pending.delete(sent);
    }
  };

  return {
    exchange,
    close: () => {
      isClosed = true;
      for (const sent of pending) sent.destroy(closedFault());
    },
  };
}

function requestOptions({ method, path, headers, body }: Message, { url, agent }: Route) {
  const length = body === undefined ? {} : { "Content-Length": String(Buffer.byteLength(body)) };
  return { host: url.host, port: url.port, method, path, agent, headers: { ...headers, ...length } };
}

function answerTo(sent: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.once("response", resolve);
    // Stays registered: a connection can fail twice, and an unhandled error would end the process.
    sent.on("error", reject);
    sent.once("close", () => reject(broken()));
  });
}

/** Limits the time for connecting and answering, and records whether the request was sent. */
function limitConnection(sent: ClientRequest, clock: ExchangeClock, { deadlineMs, stepMs }: Route) {
  let isConnected = false;
  let limit: LimitError | undefined;
  const giveUpAfter = (ms: number, exceeded: LimitError["exceeded"]): (() => void) =>
    clock.after(ms, () => {
      limit = new LimitError(exceeded, ms);
      sent.destroy(limit);
    });
  const cancelWhole = giveUpAfter(Math.max(0, deadlineMs - clock.monotonicMs()), "call");
  let cancelStep = (): void => undefined;

  const connected = (): void => {
    isConnected = true;
    cancelStep();
    cancelStep = giveUpAfter(stepMs ?? ANSWER_MS, "answer");
  };
  sent.once("socket", (socket: Socket) => {
    if (sent.reusedSocket) {
      connected();
      return;
    }
    cancelStep = giveUpAfter(stepMs ?? CONNECT_MS, "connect");
    socket.once("secureConnect", connected);
  });
  return {
    isConnected: () => isConnected,
    exceeded: () => limit,
    stop: () => {
      cancelWhole();
      cancelStep();
    },
  };
}

function broken(): Error {
  return Object.assign(new Error("the connection broke"), { code: "ECONNRESET" });
}

function isBroken(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ECONNRESET" || error.code === "EPIPE");
}
