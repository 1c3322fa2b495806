import type { ClientRequest, IncomingMessage } from "node:http";
import { type Agent, request } from "node:https";
import type { Socket } from "node:net";
import { Fault } from "@resource-broker/contract";
import type { Clock } from "@resource-broker/runtime";
import { connectionFault } from "./connection-fault.ts";
import type { BrokerUrl } from "./endpoints.ts";

const CONNECT_MS = 5000;
const ANSWER_MS = 10_000;

/** What is sent. */
export interface Message {
  readonly method: "GET" | "POST" | "DELETE";
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
}

export type Outcome<T> =
  | { readonly kind: "answered"; readonly value: T }
  | {
      readonly kind: "failed";
      readonly fault: Fault;
      /** False: the broker has certainly not received the call. */
      readonly mayHaveArrived: boolean;
      /** True: an idle connection was being closed, which says nothing about the broker. */
      readonly wasStale: boolean;
    };

/** Reads the answer; a rejection counts as no answer. */
export type ReadAnswer<T> = (response: IncomingMessage) => T | Promise<T>;

/** One request and its answer, on one connection. */
export interface Exchanger {
  /** Never rejects. */
  readonly exchange: <T>(message: Message, line: Route, read: ReadAnswer<T>) => Promise<Outcome<T>>;
  /** Aborts pending requests; later requests fail at once. */
  readonly close: () => void;
}

export function createExchanger(clock: Clock): Exchanger {
  const pending = new Set<ClientRequest>();
  let isClosed = false;

  const exchange: Exchanger["exchange"] = async (message, route, read) => {
    const { url } = route;
    if (isClosed) return notSent(closedFault());
    const sent = request(requestOptions(message, route));
    const progress = limitConnection(sent, {
      url,
      clock,
      leftMs: route.deadlineMs - clock.monotonicMs(),
    });
    pending.add(sent);
    try {
      const answered = answerTo(sent);
      sent.end(message.body);
      return { kind: "answered", value: await read(await answered) };
    } catch (error) {
      const hasSent = progress.isConnected();
      sent.destroy();
      return {
        kind: "failed",
        fault: isClosed ? closedFault() : connectionFault(error, url),
        mayHaveArrived: hasSent,
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

function notSent(fault: Fault): Outcome<never> {
  return { kind: "failed", fault, mayHaveArrived: false, wasStale: false };
}

function closedFault(): Fault {
  return new Fault("unreachable", "the connection to the broker is closed: the agent is stopping");
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
function limitConnection(
  sent: ClientRequest,
  { url, clock, leftMs }: { readonly url: BrokerUrl; readonly clock: Clock; readonly leftMs: number },
) {
  let isConnected = false;
  const giveUpAfter = (ms: number, problem: string): (() => void) =>
    clock.after(ms, () => sent.destroy(new Fault("unreachable", `${url.text}: ${problem}`)));
  const cancelWhole = giveUpAfter(Math.max(0, leftMs), "no answer within the time for the whole call");
  let cancelStep = (): void => undefined;

  const connected = (): void => {
    isConnected = true;
    cancelStep();
    cancelStep = giveUpAfter(
      ANSWER_MS,
      `it accepted the call and did not answer within ${ANSWER_MS / 1000} s`,
    );
  };
  sent.once("socket", (socket: Socket) => {
    if (sent.reusedSocket) {
      connected();
      return;
    }
    cancelStep = giveUpAfter(
      CONNECT_MS,
      `no connection within ${CONNECT_MS / 1000} s; check --broker-url, the network and firewalls`,
    );
    socket.once("secureConnect", connected);
  });
  return {
    isConnected: () => isConnected,
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
