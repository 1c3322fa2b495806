import type { IncomingMessage, ServerResponse } from "node:http";
import { TLSSocket } from "node:tls";
import { Fault, type Log } from "@resource-broker/base";
import { PROTOCOL_VERSION } from "@resource-broker/contract";
import type { HttpMetrics } from "../../metrics/metrics.ts";
import type { ConnectionIdentity } from "./authenticate.ts";
import { type AuthorizeDeps, type AuthorizedRequest, authorize } from "./authorize.ts";
import type { Backpressure } from "./backpressure.ts";
import type { Connections } from "./connections.ts";
import { parseJson } from "./json.ts";
import { readQuery } from "./query.ts";
import { hasBody, hasMuchLeft, readBody } from "./read-body.ts";
import type { Replier } from "./reply.ts";
import type { Answer, Route } from "./route.ts";
import type { Match, Router } from "./router.ts";

export interface RequestHandlerDeps {
  readonly router: Pick<Router, "match">;
  readonly connections: Pick<Connections, "identityOf" | "certificateOf">;
  readonly replier: Replier;
  readonly authorization: AuthorizeDeps;
  readonly backpressure: Backpressure;
  readonly log: Log;
  readonly metrics: Pick<HttpMetrics, "answered">;
  /** True once no connection should be used again. */
  readonly isStopping: () => boolean;
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
  readonly identity: ConnectionIdentity;
  readonly query: string;
  match: Match;
}

const ANONYMOUS: ConnectionIdentity = { kind: "anonymous" };
const UNKNOWN: Match = { kind: "unknown" };

/** The only place where faults become replies. */
export function createRequestHandler(deps: RequestHandlerDeps): RequestHandler {
  const { router, replier, backpressure, log, metrics } = deps;
  let sheddableInFlight = 0;
  let inFlight = 0;
  let onIdle: (() => void) | undefined;

  const onClose = (): void => {
    inFlight--;
    if (inFlight === 0) onIdle?.();
  };

  const handle = async (exchange: Exchange, { route, name, caller }: AuthorizedRequest): Promise<Answer> => {
    const { request, query } = exchange;
    if (route.isSheddable === true) sheddableInFlight++;
    try {
      const { headers, socket } = request;
      const body = await bodyOf(exchange, route);
      const isOlderAgent = !(Number(headers["agent-protocol"]) >= PROTOCOL_VERSION);
      const isCallerGone = (): boolean => socket.destroyed;
      return await route.handle({
        caller,
        name,
        query: readQuery(query),
        headers,
        body,
        isOlderAgent,
        isCallerGone,
        certificate: () => (socket instanceof TLSSocket ? deps.connections.certificateOf(socket) : undefined),
      });
    } finally {
      if (route.isSheddable === true) sheddableInFlight--;
    }
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
    identity.kind !== "caller" || deps.isStopping() || hasMuchLeft(request);

  const answer: RequestHandler["answer"] = async (request, response) => {
    inFlight++;
    response.once("close", onClose);
    const { socket } = request;
    const identity = socket instanceof TLSSocket ? deps.connections.identityOf(socket) : ANONYMOUS;
    const { path, query } = splitUrl(request.url ?? "");
    const exchange: Exchange = { request, response, identity, query, match: UNKNOWN };
    let status: number;
    try {
      if (request.headers.host === undefined && request.httpVersion === "1.1") throw noHost();
      exchange.match = router.match(request.method ?? "", path);
      const context = { identity, match: exchange.match, headers: request.headers, sheddableInFlight };
      status = respond(exchange, await handle(exchange, authorize(context, deps.authorization)));
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
