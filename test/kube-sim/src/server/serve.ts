import type { IncomingMessage, ServerResponse } from "node:http";
import { Fault, type Log } from "@resource-broker/base";
import { StatusError } from "../api/status-error.ts";
import { failure, internalError, methodNotSupported, unauthorized } from "../api/statuses.ts";
import type { Answer } from "./answer.ts";
import { userOf } from "./authenticate.ts";
import { handleResource } from "./handle-resource.ts";
import { readObject } from "./read-body.ts";
import { encoded } from "./render.ts";
import type { ResourceDeps } from "./resource-call.ts";
import { REVIEWS, reviewed, type User } from "./reviews.ts";
import { type ResourceRoute, type Route, routeOf } from "./route.ts";
import { send } from "./send.ts";
import { staticAnswer } from "./static-answers.ts";

export interface ServeDeps extends ResourceDeps {
  readonly token: string;
  /** `127.0.0.1:<port>`. */
  readonly address: () => string;
  readonly log?: Log;
}

const PLAIN = { encoding: "json", shape: "whole" } as const;
/** What a probe or a version check may ask without a name. */
const PUBLIC: ReadonlySet<Route["kind"]> = new Set(["health", "version"]);

/** Answers one request, whatever it is; never rejects. */
export async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  deps: ServeDeps,
): Promise<void> {
  try {
    await deps.gate.pass();
    const found = await answer(request, deps);
    // A pause that begins meanwhile holds the answer back too.
    if (deps.gate.isPaused()) await deps.gate.pass();
    await send(request, response, found);
  } catch (error) {
    // Whoever goes away in the middle is not told why.
    if (response.headersSent || (request.destroyed && !request.complete)) return void response.destroy();
    const { status, code } = asStatusError(error, deps);
    await send(request, response, encoded(PLAIN, status, { status: code })).catch(() => response.destroy());
  }
}

async function answer(request: IncomingMessage, deps: ServeDeps): Promise<Answer> {
  const { method = "", url = "" } = request;
  const [path = "", search = ""] = url.split(/\?(.*)/su);
  const route = routeOf(path);
  const user = userOf(request, deps);
  if (route.kind === "resource") return answerKnown({ request, route, search }, user, deps);
  if (user === undefined && !PUBLIC.has(route.kind)) throw unauthorized();
  if (method !== "GET") throw methodNotAllowed(method);
  return staticAnswer(route, {
    api: deps.api,
    address: deps.address(),
    accept: request.headers.accept ?? "",
  });
}

interface Request {
  readonly request: IncomingMessage;
  readonly route: ResourceRoute;
  readonly search: string;
}

async function answerKnown(
  { request, route, search }: Request,
  user: User | undefined,
  deps: ServeDeps,
): Promise<Answer> {
  if (user === undefined) throw unauthorized();
  const reviewAnswer = await askReview(route, request, user);
  return reviewAnswer ?? handleResource({ request, route, query: new URLSearchParams(search), user }, deps);
}

async function askReview(
  route: ResourceRoute,
  request: IncomingMessage,
  user: User,
): Promise<Answer | undefined> {
  const review = REVIEWS.find(
    ({ group, version, plural }) =>
      group === route.group && version === route.version && plural === route.plural,
  );
  if (review === undefined) return undefined;
  if (request.method !== "POST") throw methodNotSupported(review, (request.method ?? "").toLowerCase());
  return encoded(PLAIN, reviewed(review, await readObject(request), user), { status: 201 });
}

function methodNotAllowed(method: string): StatusError {
  return failure(
    405,
    "MethodNotAllowed",
    `the server does not allow the method ${method} on the requested resource`,
  );
}

function asStatusError(error: unknown, { log }: ServeDeps): StatusError {
  if (error instanceof StatusError) return error;
  // What has no protobuf form can still be had as JSON.
  if (error instanceof Fault && error.code === "unsupported")
    return failure(406, "NotAcceptable", error.message);
  log?.error({ err: error }, "the simulated API server failed");
  return internalError(error instanceof Error ? error.message : String(error));
}
