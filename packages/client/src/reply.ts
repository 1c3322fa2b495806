import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { errorText, Fault, parseJson } from "@resource-broker/base";
import { describeProblems, HEADER, readFault, type Schema, validate } from "@resource-broker/contract";
import { CALLS_PROTOCOL, MARKET_PROTOCOL } from "@resource-broker/domain";
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

/** The schema of a body, or which one it has. */
export type BodySchema<T> = Schema<T> | ((body: unknown) => Schema<T>);

export function schemaFor<T>(schema: BodySchema<T>, body: unknown): Schema<T> {
  return typeof schema === "function" ? schema(body) : schema;
}

export function answerOf<T>(schema: BodySchema<T>, reply: Reply): Answer<T> {
  return { value: bodyOf(schema, reply), headers: reply.headers };
}

/** The validated body; throws when it does not match the schema. */
function bodyOf<T>(schema: BodySchema<T>, { url, status, headers, text }: Reply): T {
  const parsed = parseJson(text);
  if (parsed === undefined || status === NO_CONTENT) {
    throw unexpectedReply(
      url,
      `${typeOf(headers)} came instead of JSON: ${JSON.stringify(text.slice(0, SHOWN_LENGTH))}`,
    );
  }
  const validated = validate(schemaFor(schema, parsed), parsed);
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

const OLDEST_PROTOCOL = 1;

/** What the broker that sent an answer speaks. */
export function protocolOf(headers: IncomingHttpHeaders): number {
  return Number(headers[HEADER.brokerProtocol.toLowerCase()]) || OLDEST_PROTOCOL;
}

/** True: the answer comes from a broker that knows every call of the second protocol. */
export function isFromCurrentBroker(headers: IncomingHttpHeaders): boolean {
  return protocolOf(headers) >= CALLS_PROTOCOL;
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

export function ledgerIdIn(headers: IncomingHttpHeaders): string | undefined {
  const ledgerId = headers[HEADER.ledgerId.toLowerCase()];
  return typeof ledgerId === "string" && ledgerId !== "" ? ledgerId : undefined;
}

export function readResponseMetadata(headers: IncomingHttpHeaders): ResponseMetadata {
  const time = Date.parse(headers.date ?? "");
  return {
    ledgerId: ledgerIdIn(headers),
    brokerTimeMs: Number.isNaN(time) ? undefined : time,
    isCurrent: isFromCurrentBroker(headers),
    canQueue: protocolOf(headers) >= MARKET_PROTOCOL,
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

type Describe = (url: BrokerUrl, hints: ClientHints) => string;

const UNKNOWN_CA: Describe = (_, { certificates }) =>
  `its certificate is not signed by the authority in ca.crt; put the broker's ca.crt into ${certificates}`;
const BROKEN: Describe = (_, { certificates }) =>
  `the connection broke before the whole answer came; if it always does, check whether the broker accepts tls.crt in ${certificates}`;
const NO_ROUTE: Describe = (_, hints) =>
  `there is no route to that address; check ${hints.url} and the network`;

/** Error codes of Node and OpenSSL, with a remedy. */
const BY_CODE: Readonly<Record<string, Describe>> = {
  ENOTFOUND: ({ host }, hints) => `the name ${host} is not known; check ${hints.url} and the DNS`,
  EAI_AGAIN: ({ host }, hints) => `the DNS does not answer for ${host}; check ${hints.url} and the DNS`,
  ECONNREFUSED: (_, hints) =>
    `nothing listens there; check the port in ${hints.url} and whether the broker runs`,
  EHOSTUNREACH: NO_ROUTE,
  ENETUNREACH: NO_ROUTE,
  ECONNRESET: BROKEN,
  EPIPE: BROKEN,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_CA,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_CA,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_CA,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_CA,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_CA,
  CERT_SIGNATURE_FAILURE: UNKNOWN_CA,
  CERT_UNTRUSTED: UNKNOWN_CA,
  CERT_HAS_EXPIRED: () =>
    "its certificate has expired; renew tls.crt at the broker, or correct the local clock",
  CERT_NOT_YET_VALID: () => "its certificate is not valid yet; compare the clocks here and at the broker",
  INVALID_PURPOSE: () =>
    "its certificate is not made for servers; issue the broker's tls.crt with serverAuth",
  ERR_TLS_CERT_ALTNAME_INVALID: ({ host }, hints) =>
    `its certificate is not made for ${host}; use a name in ${hints.url} that it holds, or issue the broker's tls.crt with this one`,
};
const OWN_REFUSED: Describe = (_, { certificates }) =>
  `it refuses our certificate; put a valid tls.crt and tls.key, issued by the broker's authority, into ${certificates}`;
const TLS_PROBLEMS: readonly { readonly sign: RegExp; readonly problem: Describe }[] = [
  {
    // How a server rejects our certificate; the prefix differs between OpenSSL releases.
    sign: /ALERT_.*(CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED)/,
    problem: OWN_REFUSED,
  },
  {
    sign: /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST/,
    problem: (_, hints) => `it does not speak TLS; check the port in ${hints.url}`,
  },
  {
    sign: /UNSUPPORTED_PROTOCOL|PROTOCOL_VERSION|HANDSHAKE_FAILURE|NO_SHARED_CIPHER/,
    problem: (_, { program }) =>
      `it and this ${program} share no version of TLS; the broker must allow 1.2 or 1.3`,
  },
];

/** A call without an answer, as a Fault: the address, the problem and the remedy. */
export function connectionFault(error: unknown, url: BrokerUrl, hints: ClientHints): Fault {
  if (error instanceof Fault) return error;
  if (error instanceof LimitError) return new Fault("unreachable", `${url.text}: ${limitText(error, hints)}`);
  return new Fault("unreachable", `${url.text}: ${problemOf(error, url, hints)}`, { cause: error });
}

function limitText({ exceeded, limit }: LimitError, hints: ClientHints): string {
  switch (exceeded) {
    case "connect":
      return `no connection within ${limit / 1000} s; check ${hints.url}, the network and firewalls`;
    case "answer":
      return `it accepted the call and did not answer within ${limit / 1000} s`;
    case "call":
      return "no answer within the time for the whole call";
    case "bytes":
      return `an answer of more than ${limit / 1024 / 1024} MiB came`;
  }
}

/** Whose certificate is refused: the caller's own, or the server's, which no authority in ca.crt has signed. Undefined: neither. */
export function refusedCertificate(fault: Fault): "own" | "server" | undefined {
  if (fault.code === "no-certificate") return "own";
  const { cause } = fault;
  if (cause instanceof Fault) return refusedCertificate(cause);
  const known = cause instanceof Error ? knownProblem(cause) : undefined;
  if (known === UNKNOWN_CA) return "server";
  return known === OWN_REFUSED ? "own" : undefined;
}

function problemOf(error: unknown, url: BrokerUrl, hints: ClientHints): string {
  if (!(error instanceof Error)) return String(error);
  return knownProblem(error)?.(url, hints) ?? messageOf(error, codeOf(error));
}

function knownProblem(error: Error): Describe | undefined {
  const code = codeOf(error);
  return Object.hasOwn(BY_CODE, code) ? BY_CODE[code] : tlsProblem(`${code} ${error.message}`);
}

function codeOf(error: Error): string {
  return "code" in error ? String(error.code) : "";
}

/** OpenSSL's error name is in the code or only in the message. */
function tlsProblem(text: string): Describe | undefined {
  const words = text.toUpperCase().replaceAll(" ", "_");
  return TLS_PROBLEMS.find(({ sign }) => sign.test(words))?.problem;
}

/** When several addresses of one name fail, the error has no message of its own. */
function messageOf(error: Error, code: string): string {
  if (error instanceof AggregateError) return error.errors.map(errorText).join(", ");
  return error.message === "" ? code : error.message;
}
