import type { IncomingMessage } from "node:http";
import type { Clock } from "@resource-broker/base";
import type {
  ClusterApi,
  CollectionTarget,
  ResourceDefinition,
  Target,
  WatchQuery,
} from "../api/cluster-api.ts";
import { resourceOf, timestamp } from "../api/registry.ts";
import { badRequest, methodNotSupported, pathNotFound } from "../api/statuses.ts";
import { type JsonObject, nameOf, numberAt, objectAt } from "../json.ts";
import type { FailNext } from "../kube-sim.ts";
import type { Gate } from "./gate.ts";
import type { Answer } from "./http.ts";
import { jsonAnswer, negotiate, type Rendering, renderList, renderObject, watchEncoder } from "./render.ts";
import {
  countIn,
  deleteOptions,
  flagIn,
  includeObjectIn,
  listQuery,
  readObject,
  readOptionalObject,
  readPatch,
  selectionIn,
  writeOptions,
} from "./request.ts";
import type { Users } from "./users.ts";
import { watchAnswer } from "./watch-stream.ts";

/** What the address of an object or a collection says. */
export interface ResourceRoute {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

export interface ResourceDeps {
  readonly api: ClusterApi;
  /** The cluster's own clock. */
  readonly clock: Clock;
  readonly gate: Gate;
  readonly users: Users;
}

/** A request about objects, read as far as all verbs need it. */
interface Call {
  readonly request: IncomingMessage;
  readonly query: URLSearchParams;
  readonly route: ResourceRoute;
  readonly collection: CollectionTarget;
  readonly target: Target;
  readonly rendering: Rendering;
}

interface Action {
  readonly verb: NonNullable<FailNext["verb"]>;
  readonly handle: (call: Call, deps: ResourceDeps) => Answer | Promise<Answer>;
}

const OK = { status: 200 };
const CREATED = { status: 201 };
const DONE: JsonObject = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
/** The real server ends watches after half an hour to an hour, so that they spread over its replicas. */
const DEFAULT_WATCH_SECONDS = 1800;

/** By the method; `LIST` and `WATCH` stand for GET of collections. */
const ACTIONS: Readonly<Record<string, Action>> = {
  GET: {
    verb: "get",
    handle: ({ rendering, target }, { api }) => renderObject(rendering, api.get(target), OK),
  },
  LIST: {
    verb: "list",
    handle: ({ rendering, collection, query }, { api }) =>
      renderList(rendering, api.list(collection, listQuery(query))),
  },
  WATCH: { verb: "watch", handle: watch },
  POST: { verb: "create", handle: create },
  PUT: {
    verb: "update",
    handle: async ({ rendering, target, query, request }, { api }) => {
      const body = await readObject(request);
      const { object, isNew, warnings } = api.update(target, body, writeOptions(query, request));
      return renderObject(rendering, object, { ...(isNew ? CREATED : OK), warnings });
    },
  },
  PATCH: {
    verb: "patch",
    handle: async ({ rendering, target, query, request }, { api }) => {
      const patch = await readPatch(request);
      const options = writeOptions(query, request);
      const fieldManager = patch.kind === "apply" ? (query.get("fieldManager") ?? "") : options.fieldManager;
      const { object, isNew, warnings } = api.patch(target, patch, { ...options, fieldManager });
      return renderObject(rendering, object, { ...(isNew ? CREATED : OK), warnings });
    },
  },
  DELETE: {
    verb: "delete",
    handle: async ({ rendering, target, query, request }, { api }) => {
      if (target.subresource !== undefined) throw badRequest("a status cannot be deleted");
      const options = deleteOptions(query, await readOptionalObject(request));
      return renderObject(rendering, api.delete(target, options), OK);
    },
  },
};

/** Paths below an object that are neither the object nor its status. */
const SUBRESOURCES: Readonly<Record<string, Action>> = {
  "POST pods/eviction": { verb: "create", handle: evict },
  "POST serviceaccounts/token": { verb: "create", handle: giveToken },
};

/** Answers a request about objects, or fails it as a test has asked. */
export async function handleResource(
  request: IncomingMessage,
  [route, query]: readonly [ResourceRoute, URLSearchParams],
  deps: ResourceDeps,
): Promise<Answer> {
  const definition = definitionFor(route, deps);
  const { verb, handle } = actionFor(definition, route, [request.method ?? "", query]);
  const failure = deps.gate.failureFor({ verb, plural: definition.plural });
  if (failure !== undefined) {
    const { error, ...more } = failure;
    return { ...jsonAnswer(error.status, { status: error.code }), ...more };
  }
  const collection = { definition, ...(route.namespace === undefined ? {} : { namespace: route.namespace }) };
  const target = { ...collection, name: route.name ?? "" };
  const rendering = {
    definition,
    format: negotiate(request.headers.accept, definition),
    includeObject: includeObjectIn(query),
    nowMs: deps.clock.wallMs,
  };
  return handle(
    {
      request,
      query,
      route,
      collection,
      target: route.subresource === "status" ? { ...target, subresource: "status" } : target,
      rendering,
    },
    deps,
  );
}

/** The kind that an address names, if the address is right for it. */
function definitionFor(route: ResourceRoute, { api }: ResourceDeps): ResourceDefinition {
  const { group, version, plural, namespace, name } = route;
  const definition = api
    .definitions()
    .find((one) => one.plural === plural && one.group === group && one.version === version);
  const isMisplaced =
    definition?.isNamespaced === true
      ? namespace === undefined && name !== undefined
      : namespace !== undefined;
  if (definition === undefined || isMisplaced) throw pathNotFound();
  return definition;
}

function actionFor(
  definition: ResourceDefinition,
  { name, subresource }: ResourceRoute,
  [method, query]: readonly [string, URLSearchParams],
): Action {
  if (subresource !== undefined && !(subresource === "status" && definition.hasStatus)) {
    const special = SUBRESOURCES[`${method} ${resourceOf(definition)}/${subresource}`];
    if (special === undefined) throw pathNotFound();
    return special;
  }
  const isWatch = name === undefined && flagIn(query, "watch");
  const onCollection = new Map([
    ["GET", isWatch ? "WATCH" : "LIST"],
    ["POST", "POST"],
  ]);
  const onObject = new Map(["GET", "PUT", "PATCH", "DELETE"].map((word) => [word, word]));
  const action = ACTIONS[(name === undefined ? onCollection : onObject).get(method) ?? ""];
  if (action === undefined) throw methodNotSupported(definition, method.toLowerCase());
  return action;
}

/** Objects of all namespaces can be listed, not created. */
function needsNamespace(definition: ResourceDefinition, { namespace }: CollectionTarget): void {
  if (definition.isNamespaced && namespace === undefined) throw methodNotSupported(definition, "create");
}

function watch({ rendering, collection, query }: Call, deps: ResourceDeps): Answer {
  const hasBookmarks = flagIn(query, "allowWatchBookmarks");
  const marksInitialEnd = flagIn(query, "sendInitialEvents");
  if (marksInitialEnd && !(hasBookmarks && query.get("resourceVersionMatch") === "NotOlderThan"))
    throw badRequest(
      "sendInitialEvents needs allowWatchBookmarks=true and resourceVersionMatch=NotOlderThan",
    );
  return watchAnswer(
    {
      target: collection,
      query: watchQuery(query, marksInitialEnd),
      encoder: watchEncoder(rendering),
      hasBookmarks,
      marksInitialEnd,
      timeoutSeconds: countIn(query, "timeoutSeconds") ?? DEFAULT_WATCH_SECONDS,
    },
    deps,
  );
}

/** Without a version, or from "0", the objects that exist come first unless that is declined. */
function watchQuery(query: URLSearchParams, asksForInitial: boolean): WatchQuery {
  const resourceVersion = query.get("resourceVersion") ?? "";
  const isOpen = resourceVersion === "" || resourceVersion === "0";
  const sendInitialEvents = asksForInitial || (isOpen && query.get("sendInitialEvents") !== "false");
  return { ...selectionIn(query), resourceVersion, ...(sendInitialEvents ? { sendInitialEvents } : {}) };
}

async function create(
  { rendering, collection, query, request }: Call,
  { api }: ResourceDeps,
): Promise<Answer> {
  const { definition } = rendering;
  needsNamespace(definition, collection);
  const options = writeOptions(query, request);
  const body = await readObject(request);
  const { object, warnings } = api.create(collection, body, options);
  // A kubelet registers its node with a status, which the server keeps: of nodes alone.
  const isRegistration =
    resourceOf(definition) === "nodes" && body["status"] !== undefined && !options.dryRun;
  const place = { ...collection, name: nameOf(object), subresource: "status" } as const;
  const stored = isRegistration
    ? api.update(place, { ...object, status: body["status"] }, options).object
    : object;
  return renderObject(rendering, stored, { ...CREATED, warnings });
}

/** There are no disruption budgets here, so an eviction is a deletion. */
async function evict({ request, query, target }: Call, { api }: ResourceDeps): Promise<Answer> {
  const body = await readObject(request);
  api.delete(target, deleteOptions(query, objectAt(body, "deleteOptions")));
  return jsonAnswer(DONE, CREATED);
}

const DEFAULT_TOKEN_SECONDS = 3600;

async function giveToken({ request, target }: Call, { api, clock, users }: ResourceDeps): Promise<Answer> {
  const body = await readObject(request);
  const account = api.get(target);
  const seconds = numberAt(body, "spec.expirationSeconds") || DEFAULT_TOKEN_SECONDS;
  const expiresAtMs = clock.wallMs() + seconds * 1000;
  const { name, namespace } = target;
  const answer = {
    kind: "TokenRequest",
    apiVersion: "authentication.k8s.io/v1",
    metadata: { name, namespace, creationTimestamp: timestamp(clock.wallMs()) },
    spec: { audiences: ["https://kubernetes.default.svc"], expirationSeconds: seconds },
    status: { token: users.issueToken(account), expirationTimestamp: timestamp(expiresAtMs) },
  };
  return jsonAnswer(answer, CREATED);
}
