import type { IncomingMessage, ServerResponse } from "node:http";
import { Fault, type Log } from "@resource-broker/base";
import { parseJson } from "../http/json.ts";
import { hasBody, hasMuchLeft, readBody } from "../http/read-body.ts";
import type { Replier } from "../http/reply.ts";
import type { RequestHandler } from "../http/request-handler.ts";
import type { Answer, PlainAnswer } from "../http/route.ts";
import type { Match, Router } from "../http/router.ts";
import { type AuthorizeDeps, authenticate, authorize, limitRate } from "./authorize.ts";
import { type AllowedOrigin, checkHost, checkOrigin } from "./origin.ts";
import type { UiRoute } from "./route.ts";
import { responseHeaders, type StaticFiles } from "./static-files.ts";

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** The largest body is a question with its constraints and weights. */
const BODY_LIMIT = 64 * 1024;
/** Body limit without a session: only a sign-in token is expected. */
const ANONYMOUS_BODY_LIMIT = 1024;
const CALLS = "/ui/";

export interface RequestHandlerDeps {
  readonly origin: AllowedOrigin;
  readonly authorization: AuthorizeDeps;
  readonly replier: Replier;
  readonly files: StaticFiles;
  /** Undefined while this replica does not lead. */
  readonly router: () => Pick<Router<UiRoute>, "match"> | undefined;
  /** Why the ledger is not available; undefined: it is. */
  readonly unavailableBecause: () => Fault | undefined;
  readonly log: Log;
  readonly isStopping: () => boolean;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  readonly path: string;
  readonly query: string;
}

/** Handles pages and calls of the dashboard, and turns faults into responses. */
export function createRequestHandler(deps: RequestHandlerDeps): RequestHandler {
  const { replier, log } = deps;
  const noStore = responseHeaders("no-store");
  let inFlight = 0;
  let onIdle: (() => void) | undefined;

  const isLast = (request: IncomingMessage): boolean => deps.isStopping() || hasMuchLeft(request);

  const send = ({ request, response }: Exchange, answer: PlainAnswer): void =>
    replier.send(response, answer, { isLast: isLast(request), headers: noStore });

  const requireAvailable = (): void => {
    const fault = deps.unavailableBecause();
    if (fault !== undefined) throw fault;
  };

  const serveCall = async (exchange: Exchange): Promise<Answer> => {
    const { request, method, path, query } = exchange;
    const { headers, socket } = request;
    const host = checkHost(request, deps.origin);
    checkOrigin({ method, headers, host }, deps.origin);
    const caller = authenticate(request, deps.authorization);
    limitRate(caller, socket.remoteAddress, deps.authorization);
    requireAvailable();
    const { route, name } = found(exchange, deps.router()?.match(method, path) ?? { kind: "unknown" });
    authorize(route, caller);
    const limit = caller.session === undefined ? ANONYMOUS_BODY_LIMIT : BODY_LIMIT;
    const body = await bodyOf(exchange, limit);
    return route.handle({ ...caller, name, parameters: new URLSearchParams(query), headers, host, body });
  };

  const servePage = (exchange: Exchange): void => {
    const { request, response, method, path } = exchange;
    checkHost(request, deps.origin);
    authenticate(request, deps.authorization);
    requireAvailable();
    if (method !== "GET" && method !== "HEAD") throw wrongMethod(exchange, "GET, HEAD");
    const file = deps.files.find(path, String(request.headers["accept-encoding"] ?? ""));
    if (file === undefined) throw new Fault("not-found", "there is no such page");
    const { type, content, encoding, cachePolicy } = file;
    response.writeHead(200, [
      ...replier.headers(),
      ...responseHeaders(cachePolicy),
      "Content-Type",
      type,
      "Content-Length",
      String(content.length),
      "Vary",
      "Accept-Encoding",
      ...(encoding === undefined ? [] : ["Content-Encoding", encoding]),
    ]);
    response.end(method === "HEAD" ? undefined : content);
  };

  const faultOf = (error: unknown, { method, path }: Exchange): Fault => {
    const fault =
      error instanceof Fault
        ? error
        : new Fault("internal", "the broker failed; its log says why", { cause: error });
    if (fault.code === "internal") log.error({ method, url: path, err: fault.cause ?? fault }, fault.message);
    return fault;
  };

  const respond = async (exchange: Exchange): Promise<void> => {
    const { request, response, path } = exchange;
    const isCall = path.startsWith(CALLS);
    try {
      if (!isCall) return servePage(exchange);
      const answer = await serveCall(exchange);
      if ("stream" in answer) answer.stream(response);
      else send(exchange, answer);
    } catch (error) {
      const fault = faultOf(error, exchange);
      if (isCall) replier.sendFault(response, fault, { isLast: isLast(request), headers: noStore });
      else send(exchange, plainPage(fault));
    }
  };

  const answer: RequestHandler["answer"] = async (request, response) => {
    inFlight++;
    response.once("close", () => {
      if (--inFlight === 0) onIdle?.();
    });
    const { method = "", url = "" } = request;
    const [path = "", query = ""] = url.split(/\?(.*)/s, 2);
    await respond({ request, response, method, path, query });
  };

  const whenIdle = (): Promise<void> =>
    new Promise((resolve) => {
      if (inFlight === 0) resolve();
      else onIdle = resolve;
    });
  return { answer, whenIdle };
}

function found(
  exchange: Exchange,
  match: Match<UiRoute>,
): { readonly route: UiRoute; readonly name: string } {
  if (match.kind === "found") return match;
  if (match.kind === "unknown") throw new Fault("not-found", "the dashboard has no such call");
  throw wrongMethod(exchange, match.allow);
}

function wrongMethod({ response }: Exchange, allow: string): Fault {
  response.setHeader("Allow", allow);
  return new Fault("method-not-allowed", `this address takes ${allow}`);
}

/** JSON or nothing: what a form could send is refused before it is read. */
async function bodyOf({ request, response, method }: Exchange, limit: number): Promise<unknown> {
  if (method === "GET" || !hasBody(request.headers)) return undefined;
  const sendContinue = (): void => response.writeContinue();
  return parseJson(await readBody(request, { limit, sendContinue }));
}

/** An error page without styles and scripts, for when the dashboard's pages are not available. */
function plainPage(fault: Fault): PlainAnswer {
  const text = fault.message.charAt(0).toUpperCase() + fault.message.slice(1);
  const content = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Resource Broker</title>
</head>
<body>
<h1>Resource Broker</h1>
<p>${escaped(text)}</p>
</body>
</html>
`;
  return { status: fault.status, text: { type: "text/html; charset=utf-8", content } };
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? "");
}
