import type { X509Certificate } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { Fault, type Log } from "@resource-broker/base";
import { HEADER, PROTOCOL_VERSION, toErrorBody } from "@resource-broker/contract";
import { CALLS_PROTOCOL, type Instant } from "@resource-broker/domain";
import type { HttpMetrics } from "../../metrics/metrics.ts";
import { type AuthorizeDeps, type AuthorizedRequest, authorize } from "./authorize.ts";
import type { IdentityCheck } from "./agent-identity.ts";
import type { Backpressure } from "./backpressure.ts";
import type { ConnectionIdentity } from "./connections.ts";
import { readQuery } from "./query.ts";
import { hasBody, hasMuchLeft, parseJson, readBody } from "./read-body.ts";
import type { Answer, Match, PlainAnswer, Route, Router } from "./route.ts";

const JSON_TYPE = "application/json";
const NO_HEADERS: readonly string[] = [];
const NO_CONTENT = 204;
const SECOND_MS = 1000;
const DEFAULT_RETRY_MS = 1000;

/** Sends replies with the common headers. */
interface Replier {
  readonly send: (response: ServerResponse, answer: PlainAnswer, options?: SendOptions) => void;
  readonly sendFault: (response: ServerResponse, fault: Fault, options?: SendOptions) => void;
  /** Headers of a reply that is written bit by bit. */
  readonly headers: () => string[];
}

interface SendOptions {
  /** True: this was the last reply on the connection. */
  readonly isLast?: boolean;
  readonly headers?: readonly string[];
}

interface ReplierDeps {
  readonly ledgerId: () => string;
  readonly now: () => Instant;
}

export function createReplier({ ledgerId, now }: ReplierDeps): Replier {
  let dateSecond = -1;
  let date = "";

  /** Agents use this header as the broker's time, so it is the engine's time. It is formatted once per second. */
  const dateText = (): string => {
    const second = Math.floor(now() / SECOND_MS);
    if (second !== dateSecond) {
      dateSecond = second;
      date = new Date(second * SECOND_MS).toUTCString();
    }
    return date;
  };

  /** A standby sends no ledger ID: agents would take an empty ID for a new ledger. */
  const ledger = (): readonly string[] => (ledgerId() === "" ? NO_HEADERS : [HEADER.ledgerId, ledgerId()]);

  const common = (): string[] => [
    "Date",
    dateText(),
    ...ledger(),
    HEADER.brokerProtocol,
    String(PROTOCOL_VERSION),
  ];

  const send: Replier["send"] = (response, answer, options = {}) => {
    if (response.destroyed || response.headersSent) return;
    const { type, content } = contentOf(answer);
    const headers = common();
    if (content !== "") headers.push("Content-Type", type);
    if (answer.status !== NO_CONTENT) headers.push("Content-Length", String(Buffer.byteLength(content)));
    if (answer.headers !== undefined) headers.push(...answer.headers);
    if (options.headers !== undefined) headers.push(...options.headers);
    if (options.isLast === true) headers.push("Connection", "close");
    response.writeHead(answer.status, headers);
    response.end(content);
  };

  const sendFault: Replier["sendFault"] = (response, fault, options = {}) => {
    const answer = { status: fault.status, body: toErrorBody(fault), headers: retryHeaders(fault) };
    send(response, answer, options);
  };

  return { send, sendFault, headers: common };
}

function contentOf({ text, body }: PlainAnswer): { readonly type: string; readonly content: string } {
  if (text !== undefined) return text;
  return { type: JSON_TYPE, content: body === undefined ? "" : JSON.stringify(body) };
}

/** Retry-After for faults that may succeed later. Whole seconds, at least 1: immediate retries caused the overload. */
function retryHeaders({ retry, status, details }: Fault): readonly string[] {
  if (!retry || status === 409) return NO_HEADERS;
  const seconds = Math.max(1, Math.ceil((details.retryAfterMs ?? DEFAULT_RETRY_MS) / SECOND_MS));
  return [HEADER.retryAfter, String(seconds)];
}

/** What differs between the ports that take calls. */
export interface Port {
  /** Throws the Fault of a request that may not be answered at all. */
  readonly identityOf: (request: IncomingMessage) => ConnectionIdentity | Promise<ConnectionIdentity>;
  /** The caller's; undefined: there is none, or the connection is gone. */
  readonly certificateOf: (request: IncomingMessage) => X509Certificate | undefined;
  /** The answer to a caller without an identity. */
  readonly anonymousMessage: string;
  /** True: agents may enroll here. */
  readonly takesEnrollment?: boolean;
  /** True once no connection should be used again. */
  readonly isStopping: () => boolean;
}

export interface RequestHandlerDeps {
  readonly router: Pick<Router, "match">;
  readonly port: Port;
  readonly replier: Replier;
  readonly authorization: AuthorizeDeps;
  /** Checks that the caller is the agent that its cluster ID belongs to. */
  readonly identityCheck: Pick<IdentityCheck, "check">;
  readonly backpressure: Backpressure;
  readonly log: Log;
  readonly metrics: Pick<HttpMetrics, "answered">;
}

export interface RequestHandler {
  /** Answers one request; never rejects. */
  readonly answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** Resolves when no answer is under way, streams included. */
  readonly whenIdle: () => Promise<void>;
}

/** A request with its connection identity and route match, before authorization. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly query: string;
  identity: ConnectionIdentity;
  match: Match;
}

const ANONYMOUS: ConnectionIdentity = { kind: "anonymous" };
const UNKNOWN: Match = { kind: "unknown" };

/** The only place where faults become replies. */
export function createRequestHandler(deps: RequestHandlerDeps): RequestHandler {
  const { router, port, replier, identityCheck, backpressure, log, metrics } = deps;
  let sheddableInFlight = 0;
  let inFlight = 0;
  let onIdle: (() => void) | undefined;

  const onClose = (): void => {
    inFlight--;
    if (inFlight === 0) onIdle?.();
  };

  const handle = async (exchange: Exchange, { route, name, caller }: AuthorizedRequest): Promise<Answer> => {
    const { request, query, identity } = exchange;
    if (route.isSheddable === true) sheddableInFlight++;
    try {
      const { headers, socket } = request;
      const body = await bodyOf(exchange, route);
      const protocol = protocolIn(headers);
      const isCallerGone = (): boolean => socket.destroyed;
      return await route.handle({
        caller,
        name,
        query: readQuery(query),
        headers,
        body,
        address: socket.remoteAddress ?? "",
        protocol,
        isOlderAgent: protocol < CALLS_PROTOCOL,
        isCallerGone,
        certificate: () => port.certificateOf(request),
        session: identity.kind === "caller" ? identity.session : undefined,
      });
    } finally {
      if (route.isSheddable === true) sheddableInFlight--;
    }
  };

  /** Nothing of the body is read before all of it is known to be allowed. */
  const admit = (exchange: Exchange): AuthorizedRequest | Promise<AuthorizedRequest> => {
    const { request, identity, match } = exchange;
    const { headers } = request;
    const { anonymousMessage } = port;
    const context = { identity, match, headers, sheddableInFlight, anonymousMessage };
    const authorized = authorize(context, deps.authorization);
    const checking = identityCheck.check(authorized, request, () => port.certificateOf(request));
    return checking === undefined ? authorized : checking.then(() => authorized);
  };

  const respond = (exchange: Exchange, answer: Answer): number => {
    if ("stream" in answer) {
      answer.stream(exchange.response);
      return 200;
    }
    replier.send(exchange.response, answer, { isLast: isLast(exchange) });
    return answer.status;
  };

  const fail = (exchange: Exchange, error: unknown): number => {
    const { request, response, match } = exchange;
    const fault =
      error instanceof Fault
        ? error
        : new Fault("internal", "the broker failed; its log says why", { cause: error });
    if (fault.code === "internal")
      log.error({ method: request.method, url: request.url, err: fault.cause ?? fault }, fault.message);
    // Only while other requests are served: serving them resumes the connection.
    if (fault.code === "overloaded" && sheddableInFlight > 0 && isSheddable(match))
      backpressure.pauseAfter(response);
    const headers = match.kind === "wrong-method" ? ["Allow", match.allow] : [];
    replier.sendFault(response, fault, { isLast: isLast(exchange), headers });
    return fault.status;
  };

  const isLast = ({ request, identity }: Exchange): boolean =>
    identity.kind !== "caller" || port.isStopping() || hasMuchLeft(request);

  const answer: RequestHandler["answer"] = async (request, response) => {
    inFlight++;
    response.once("close", onClose);
    const { path, query } = splitUrl(request.url ?? "");
    const exchange: Exchange = { request, response, identity: ANONYMOUS, query, match: UNKNOWN };
    let status: number;
    try {
      const { headers } = request;
      if (headers.host === undefined && request.httpVersion === "1.1") throw noHost();
      const identified = port.identityOf(request);
      const identity = identified instanceof Promise ? await identified : identified;
      exchange.identity = identity;
      exchange.match = router.match(request.method ?? "", path);
      const admitted = admit(exchange);
      const authorized = admitted instanceof Promise ? await admitted : admitted;
      status = respond(exchange, await handle(exchange, authorized));
    } catch (error) {
      status = fail(exchange, error);
    }
    if (status < 500 && isSheddable(exchange.match)) backpressure.served();
    metrics.answered(routeName(exchange.match), status);
  };

  const whenIdle = (): Promise<void> =>
    new Promise((resolve) => {
      if (inFlight === 0) resolve();
      else onIdle = resolve;
    });
  return { answer, whenIdle };
}

const OLDEST_PROTOCOL = 1;

/** Agents of the first version send nothing. A newer agent than this broker keeps its number. */
function protocolIn({ "agent-protocol": stated }: IncomingHttpHeaders): number {
  const protocol = typeof stated === "string" && /^[0-9]{1,4}$/.test(stated) ? Number(stated) : 0;
  return Math.max(OLDEST_PROTOCOL, protocol);
}

async function bodyOf({ request, response }: Exchange, { body }: Route): Promise<unknown> {
  if (body === undefined) return undefined;
  const sendContinue = (): void => response.writeContinue();
  if (hasBody(request.headers))
    return parseJson(await readBody(request, { limit: body.limit, sendContinue }));
  if (body.isOptional === true) return undefined;
  throw new Fault("malformed", "this call needs a JSON body; /openapi.json shows an example");
}

function splitUrl(url: string): { readonly path: string; readonly query: string } {
  const queryStart = url.indexOf("?");
  return queryStart === -1
    ? { path: url, query: "" }
    : { path: url.slice(0, queryStart), query: url.slice(queryStart + 1) };
}

function noHost(): Fault {
  return new Fault("malformed", "HTTP/1.1 needs a Host header; send the name the broker is called by");
}

function isSheddable(match: Match): boolean {
  return match.kind === "found" && match.route.isSheddable === true;
}

/** Route patterns instead of paths, so that the number of label values is limited. */
function routeName(match: Match): string {
  return match.kind === "found" ? `${match.route.method} ${match.route.path}` : match.kind;
}
