import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Fault } from "@resource-broker/base";
import {
  describeProblems,
  HEADER,
  PROTOCOL_VERSION,
  readFault,
  type Schema,
  validate,
} from "@resource-broker/contract";
import type { BrokerUrl, ClientHints, ResponseMetadata } from "./endpoints.ts";
import { LimitError } from "./exchange.ts";

/** Enough for ten thousand instructions. */
const MAX_BYTES = 16 * 1024 * 1024;
const SHOWN_LENGTH = 80;
const MAX_RETRY_AFTER_MS = 3_600_000;
const NO_CONTENT = 204;

/** A whole answer. */
export interface Reply {
  readonly url: BrokerUrl;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Reads the whole answer; throws a LimitError when it is too long. */
export async function readReply(
  response: IncomingMessage,
  url: BrokerUrl,
  maxBytes = MAX_BYTES,
): Promise<Reply> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  if (Number(response.headers["content-length"]) > maxBytes) throw new LimitError("bytes", maxBytes);
  for await (const piece of response as AsyncIterable<Uint8Array>) {
    length += piece.length;
    if (length > maxBytes) throw new LimitError("bytes", maxBytes);
    pieces.push(piece);
  }
  const text = Buffer.concat(pieces).toString("utf8");
  return { url, status: response.statusCode ?? 0, headers: response.headers, text };
}

/** A reply whose body is valid. */
export interface Answer<T> {
  readonly value: T;
  readonly headers: IncomingHttpHeaders;
}

export function answerOf<T>(schema: Schema<T>, reply: Reply): Answer<T> {
  return { value: bodyOf(schema, reply), headers: reply.headers };
}

/** The validated body; throws when it does not match the schema. */
function bodyOf<T>(schema: Schema<T>, { url, status, headers, text }: Reply): T {
  const parsed = parseJson(text);
  if (parsed === undefined || status === NO_CONTENT) {
    throw unexpectedReply(
      url,
      `${typeOf(headers)} came instead of JSON: ${JSON.stringify(text.slice(0, SHOWN_LENGTH))}`,
    );
  }
  const validated = validate(schema, parsed.value);
  if (validated.ok) return validated.value;
  throw unexpectedReply(url, `the answer does not match the schema: ${describeProblems(validated.problems)}`);
}

/** The path of the next page, from the header `Link`. Undefined: this was the last. Only links below `path` are followed. */
export function nextPage(headers: IncomingHttpHeaders, path: string): string | undefined {
  const link = headers[HEADER.link.toLowerCase()];
  const next = typeof link === "string" ? /^<([^<>]+)>; rel="next"$/.exec(link)?.[1] : undefined;
  return next?.startsWith(`${path}?`) === true ? next : undefined;
}

export function isSuccess({ status }: Pick<Reply, "status">): boolean {
  return status >= 200 && status < 300;
}

/** True: the answer comes from a broker with the current protocol. */
export function isFromCurrentBroker(headers: IncomingHttpHeaders): boolean {
  return Number(headers[HEADER.brokerProtocol.toLowerCase()]) >= PROTOCOL_VERSION;
}

export function isJson(headers: IncomingHttpHeaders): boolean {
  return /^application\/(.*\+)?json\b/.test(headers["content-type"] ?? "");
}

/** The Fault of an error reply. Replies of proxies and web servers are recognized. */
export function faultIn(reply: Reply, hints: ClientHints): Fault {
  const { status, headers, text } = reply;
  if (!isFromCurrentBroker(headers) && !mayBeOlderBroker(reply)) return notFromBroker(reply, hints);
  const retryAfterMs = readRetryAfter(headers["retry-after"]);
  return readFault({ status, body: text, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
}

export function notFromBroker({ url, status, headers }: Reply, hints: ClientHints): Fault {
  return unexpectedReply(
    url,
    `${status} with ${typeOf(headers)} came, and not from a broker; check ${hints.url} and proxies`,
  );
}

/** Older brokers send errors as plain text or JSON, with few status codes. */
function mayBeOlderBroker({ status, headers }: Reply): boolean {
  const isItsKind = isJson(headers) || headers["content-type"]?.startsWith("text/plain") === true;
  return isItsKind && ((status >= 400 && status < 500) || status === 500 || status === 503);
}

/** The answer is not a broker's: it is unknown whether the call had an effect. */
export function unexpectedReply(url: BrokerUrl, problem: string): Fault {
  return new Fault("unreachable", `${url.text}: ${problem}`);
}

function typeOf(headers: IncomingHttpHeaders): string {
  return headers["content-type"] ?? "nothing";
}

/** Seconds only: a date would require synchronized clocks. */
function readRetryAfter(text: string | undefined): number | undefined {
  return text !== undefined && /^[0-9]{1,6}$/.test(text)
    ? Math.min(Number(text) * 1000, MAX_RETRY_AFTER_MS)
    : undefined;
}

function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** Reports the metadata of every answer. */
export interface ResponseReporter {
  readonly report: (headers: IncomingHttpHeaders) => void;
  readonly onResponse: (listener: (response: ResponseMetadata) => void) => () => void;
}

export function createResponseReporter(): ResponseReporter {
  const { report, onResponse } = responseListeners();
  return { report: (headers) => report(() => readResponseMetadata(headers)), onResponse };
}

export function ledgerIdIn(headers: IncomingHttpHeaders): string | undefined {
  const ledgerId = headers[HEADER.ledgerId.toLowerCase()];
  return typeof ledgerId === "string" && ledgerId !== "" ? ledgerId : undefined;
}

function readResponseMetadata(headers: IncomingHttpHeaders): ResponseMetadata {
  const time = Date.parse(headers.date ?? "");
  return {
    ledgerId: ledgerIdIn(headers),
    brokerTimeMs: Number.isNaN(time) ? undefined : time,
    isCurrent: isFromCurrentBroker(headers),
  };
}

/** Listeners to the metadata of answers. */
export interface ResponseListeners {
  /** Notifies all listeners; the metadata is not read without one. */
  readonly report: (read: () => ResponseMetadata) => void;
  readonly onResponse: (listener: (response: ResponseMetadata) => void) => () => void;
}

export function responseListeners(): ResponseListeners {
  const listeners = new Set<(response: ResponseMetadata) => void>();
  return {
    report: (read) => {
      if (listeners.size === 0) return;
      const response = read();
      for (const listener of listeners) listener(response);
    },
    onResponse: (listener) => {
      // Wrapped, so that a function can be registered twice and removed separately.
      const entry = (response: ResponseMetadata): void => listener(response);
      listeners.add(entry);
      return () => listeners.delete(entry);
    },
  };
}
