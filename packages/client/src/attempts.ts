import type { IncomingMessage } from "node:http";
import { Fault } from "@resource-broker/base";
import { HEADER, PATH } from "@resource-broker/contract";
import { CALLS_PROTOCOL } from "@resource-broker/domain";
import {
  connectionFault,
  faultIn,
  isFromCurrentBroker,
  isJson,
  isSuccess,
  ledgerIdIn,
  notFromBroker,
  protocolOf,
  readReply,
  readResponseMetadata,
  type Reply,
  type ResponseListeners,
  unexpectedReply,
} from "./reply.ts";
import type { BrokerUrl, ClientHints, Endpoint } from "./endpoints.ts";
import { type CallMessage, type Exchanged, type Exchanger, messageOf } from "./exchange.ts";
import type { ConnectionPools, TlsConnections } from "./tls-connections.ts";

export type Outcome<T> =
  | { readonly kind: "answered"; readonly value: T }
  | (Omit<Extract<Exchanged<T>, { kind: "failed" }>, "error" | "exceeded"> & { readonly fault: Fault });

/** One call of the broker's interface. */
export interface Call<T> extends CallMessage {
  /** The feature that an older broker lacks; such a broker is not called. Absent: every broker has the call. */
  readonly newerFeature?: string;
  /** The protocol that the feature came with. Absent: the second. */
  readonly needs?: number;
  /** Parses a success; throws on an unexpected body. */
  readonly read: (reply: Reply) => T;
}

export interface OpenedStream {
  readonly response: IncomingMessage;
  readonly ledgerId: string | undefined;
}

/** Attempts at one address. They never reject. */
export interface Attempts {
  readonly call: <T>(call: Call<T>, endpoint: Endpoint, deadlineMs: number) => Promise<Outcome<T>>;
  readonly openStream: (
    lastEventId: string | undefined,
    endpoint: Endpoint,
    deadlineMs: number,
  ) => Promise<Outcome<OpenedStream>>;
}

export interface AttemptsDeps {
  readonly exchanger: Pick<Exchanger, "exchange">;
  readonly connections: Pick<TlsConnections, "pools" | "identity" | "dropIdle">;
  readonly responses: Pick<ResponseListeners, "report">;
  readonly hints: ClientHints;
}

export function createAttempts({ exchanger, connections, responses, hints }: AttemptsDeps): Attempts {
  const call: Attempts["call"] = async (toMake, endpoint, deadlineMs) => {
    // With a key, the broker's version matters: an older broker ignores keys, so a lost answer must not be retried.
    const needsProtocol = toMake.newerFeature !== undefined || toMake.key !== undefined;
    if (needsProtocol && endpoint.protocol === undefined) {
      const health = await send(HEALTH, endpoint, deadlineMs);
      if (health.kind === "failed") return health;
    }
    const { newerFeature, needs = CALLS_PROTOCOL } = toMake;
    return newerFeature !== undefined && (endpoint.protocol ?? needs) < needs
      ? failed(tooOld(endpoint, newerFeature), false)
      : send(toMake, endpoint, deadlineMs);
  };

  const send = async <T>(toSend: Call<T>, endpoint: Endpoint, deadlineMs: number): Promise<Outcome<T>> => {
    const { url } = endpoint;
    const pools = connections.pools();
    const route = { url, agent: pools.calls, deadlineMs };
    const sent = await exchanger.exchange(messageOf(toSend, identified(pools)), route, (response) =>
      readReply(response, url),
    );
    if (sent.kind === "answered") return toOutcome(sent.value, toSend, endpoint);
    connections.dropIdle();
    return described(sent, url);
  };

  const toOutcome = <T>(reply: Reply, { newerFeature, read }: Call<T>, endpoint: Endpoint): Outcome<T> => {
    const isCurrent = isFromCurrentBroker(reply.headers);
    try {
      if (!isSuccess(reply)) throw faultOf(reply, endpoint);
      if (!isCurrent && newerFeature !== undefined) throw notFromBroker(reply, hints);
      const value = read(reply);
      recordResponse(endpoint, reply);
      return { kind: "answered", value };
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      if (isCurrent) recordResponse(endpoint, reply);
      return failed(error, true);
    }
  };

  const described = (
    { error, mayHaveArrived, wasStale }: Extract<Exchanged<never>, { kind: "failed" }>,
    url: BrokerUrl,
  ): Outcome<never> => ({
    kind: "failed",
    fault: connectionFault(error, url, hints),
    mayHaveArrived,
    wasStale,
  });

  /** Records an answer that is certainly a broker's. */
  const recordResponse = (endpoint: Endpoint, { headers }: Pick<Reply, "headers">): void => {
    endpoint.protocol = protocolOf(headers);
    responses.report(() => readResponseMetadata(headers));
  };

  const faultOf = (reply: Reply, { protocol }: Endpoint): Fault => {
    const { url, status, headers } = reply;
    if (isFromCurrentBroker(headers)) {
      const fault = faultIn(reply, hints);
      return status === 401 ? withRemedy(fault, url.text) : fault;
    }
    // It is not the broker that answered here before.
    if (protocol !== undefined && protocol >= CALLS_PROTOCOL) return notFromBroker(reply, hints);
    const isNoSuchCall = status === 405 || (status === 404 && !isJson(headers));
    const fault = faultIn(reply, hints);
    return isNoSuchCall && fault.code !== "unreachable"
      ? new Fault("unsupported", `${url.text}: an older broker without this call answered "${fault.message}"`)
      : fault;
  };

  const withRemedy = ({ code, message, details }: Fault, url: string): Fault => {
    const identity = connections.identity();
    const remedy =
      hints.remedy?.(identity) ??
      `put a valid tls.crt and tls.key into ${hints.certificates} (brokerctl certs issue ${identity})`;
    return new Fault(code, `${url}: ${message}; ${remedy}`, { details });
  };

  const openStream: Attempts["openStream"] = async (lastEventId, endpoint, deadlineMs) => {
    const { url } = endpoint;
    const pools = connections.pools();
    const resume = lastEventId === undefined ? {} : { "Last-Event-ID": lastEventId };
    const toSend = { method: "GET", path: PATH.instructionStream } as const;
    const message = messageOf(toSend, { ...identified(pools), ...resume });
    const route = { url, agent: pools.streams, deadlineMs };
    const opened = await exchanger.exchange(message, route, async (response) =>
      isEventStream(response) ? response : readReply(response, url),
    );
    if (opened.kind === "failed") return described(opened, url);
    const { value } = opened;
    if ("text" in value) return toOutcome(value, NO_STREAM, endpoint);
    recordResponse(endpoint, value);
    return { kind: "answered", value: { response: value, ledgerId: ledgerIdIn(value.headers) } };
  };

  return { call, openStream };
}

/** Also used to find out the broker's version. */
export const HEALTH: Call<void> = {
  method: "GET",
  path: PATH.health,
  read: ({ url, text }) => {
    if (text.trim() !== "ok") throw unexpectedReply(url, `${PATH.health} does not answer as a broker's does`);
  },
};

/** A success that is not a stream: an older broker treats the call as a poll. */
const NO_STREAM: Call<never> = {
  method: "GET",
  path: PATH.instructionStream,
  read: (reply) => {
    if (!isJson(reply.headers)) throw unexpectedReply(reply.url, "the answer is not a stream of events");
    throw new Fault("unsupported", `${reply.url.text}: an older broker, which can only be polled`);
  },
};

/** The header must be of the same certificate as the connection. */
function identified({ agentIdentity }: ConnectionPools): Readonly<Record<string, string>> {
  return agentIdentity === undefined ? {} : { [HEADER.agentIdentity]: agentIdentity };
}

function isEventStream({ statusCode, headers }: IncomingMessage): boolean {
  return statusCode === 200 && headers["content-type"]?.startsWith("text/event-stream") === true;
}

function tooOld({ url }: Endpoint, feature: string): Fault {
  return new Fault(
    "unsupported",
    `${url.text} is an older broker, which does not know ${feature}; upgrade the broker`,
  );
}

function failed(fault: Fault, mayHaveArrived: boolean): Outcome<never> {
  return { kind: "failed", fault, mayHaveArrived, wasStale: false };
}
