import type { IncomingMessage, ServerResponse } from "node:http";
import { Fault, type Log } from "@resource-broker/base";
import {
  failure,
  internalError,
  methodNotSupported,
  pathNotFound,
  StatusError,
  unauthorized,
} from "../api/statuses.ts";
import { objectAt } from "../json.ts";
import { isPublic, staticAnswer } from "./discovery.ts";
import { type Answer, send } from "./http.ts";
import { jsonAnswer } from "./render.ts";
import { readObject } from "./request.ts";
import { handleResource, type ResourceDeps, type ResourceRoute } from "./resources.ts";
import { REVIEWS, type User } from "./users.ts";

export interface ServeDeps extends ResourceDeps {
  readonly log?: Log;
}

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
    send(request, response, found);
  } catch (error) {
    // Whoever goes away in the middle is not told why.
    if (response.headersSent || (request.destroyed && !request.complete)) return void response.destroy();
    const { status, code } = asStatusError(error, deps);
    send(request, response, jsonAnswer(status, { status: code }));
  }
}

async function answer(request: IncomingMessage, deps: ServeDeps): Promise<Answer> {
  const url = new URL(request.url ?? "", "https://kube-sim");
  const parts = segments(url.pathname);
  const user = deps.users.userOf(request);
  if (user === undefined && !isPublic(parts)) throw unauthorized();
  const route = resourceRoute(parts);
  if (route === undefined || user === undefined) return otherAnswer(request, parts, deps);
  const review = await reviewAnswer(route, request, user);
  return review ?? handleResource(request, [route, url.searchParams], deps);
}

function otherAnswer(request: IncomingMessage, parts: readonly string[], { api }: ServeDeps): Answer {
  const { method = "", headers } = request;
  if (method === "GET") return staticAnswer(parts, api, headers.accept ?? "");
  throw failure(405, "MethodNotAllowed", `the server does not allow the method ${method}`);
}

/** A slash at the end means nothing; two in a row, or a broken escape, cannot be meant. */
function segments(path: string): readonly string[] {
  try {
    const parts = path
      .replaceAll(/^\/|\/$/gu, "")
      .split("/")
      .map(decodeURIComponent);
    if (!parts.includes("")) return parts;
  } catch {
    // Refused below.
  }
  throw pathNotFound();
}

/** undefined: the address is not one of objects. */
function resourceRoute([root, ...rest]: readonly string[]): ResourceRoute | undefined {
  if (root !== "api" && root !== "apis") return undefined;
  const [group = "", version = "", ...place] = root === "api" ? ["", ...rest] : rest;
  return place.length === 0 ? undefined : { group, version, ...placeOf(place) };
}

function placeOf(parts: readonly string[]): Omit<ResourceRoute, "group" | "version"> {
  const namespace = namespaceIn(parts);
  const [plural = "", name, subresource, ...more] = namespace === undefined ? parts : parts.slice(2);
  if (more.length > 0) throw pathNotFound();
  return {
    plural,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
  };
}

function namespaceIn([first, name, third, fourth]: readonly string[]): string | undefined {
  if (first !== "namespaces" || third === undefined) return undefined;
  // The status of a namespace itself; anything else after its name is a kind of object in it.
  return fourth === undefined && third === "status" ? undefined : name;
}

/** undefined: the address is not that of a review. */
async function reviewAnswer(
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
  // Who somebody is needs no question.
  const question = review.plural === "selfsubjectreviews" ? {} : await readObject(request);
  const body = {
    kind: review.kind,
    apiVersion: `${review.group}/${review.version}`,
    metadata: { creationTimestamp: null },
    spec: objectAt(question, "spec"),
    status: review.answer(user),
  };
  return jsonAnswer(body, { status: 201 });
}

function asStatusError(error: unknown, { log }: ServeDeps): StatusError {
  if (error instanceof StatusError) return error;
  // What has no protobuf form can still be had as JSON.
  if (error instanceof Fault && error.code === "unsupported")
    return failure(406, "NotAcceptable", error.message);
  log?.error({ err: error }, "the simulated API server failed");
  return internalError(error instanceof Error ? error.message : String(error));
}
