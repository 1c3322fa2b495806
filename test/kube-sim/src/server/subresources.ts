import { timestamp } from "../api/context.ts";
import type { ResourceDefinition } from "../api/definition.ts";
import { badRequest, invalid } from "../api/statuses.ts";
import { bindPod } from "../behave/bind-pod.ts";
import { nameOf, numberAt, objectAt, textAt } from "../core/look.ts";
import { NAMESPACES_TO_FINALIZE } from "../core/namespaces.ts";
import { invalid as badValue } from "../crd/causes.ts";
import type { JsonObject } from "../json.ts";
import type { FailNext } from "../kube-sim.ts";
import type { Answer } from "./answer.ts";
import { checkNames, isDryRun, writeOptions } from "./query.ts";
import { readObject } from "./read-body.ts";
import { encoded, renderObject } from "./render.ts";
import { collectionTarget, type ResourceCall, type ResourceDeps, renderingFor } from "./resource-call.ts";
import { deleteOptions } from "./resource-writes.ts";

/** A path below an object that is neither the object nor its status. */
export interface Subresource {
  readonly plural: string;
  readonly name: string;
  readonly method: string;
  readonly verb: NonNullable<FailNext["verb"]>;
  readonly handle: (
    definition: ResourceDefinition,
    call: ResourceCall,
    deps: ResourceDeps,
  ) => Promise<Answer>;
}

export const SUBRESOURCES: readonly Subresource[] = [
  { plural: "pods", name: "binding", method: "POST", verb: "create", handle: bind },
  { plural: "pods", name: "eviction", method: "POST", verb: "create", handle: evict },
  { plural: "serviceaccounts", name: "token", method: "POST", verb: "create", handle: giveToken },
  { plural: "namespaces", name: "finalize", method: "PUT", verb: "update", handle: finalize },
];

const AUDIENCES = ["https://kubernetes.default.svc"];
const DONE: JsonObject = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
const PLAIN = { encoding: "json", shape: "whole" } as const;

async function bind(
  _pods: ResourceDefinition,
  { request, route, query }: ResourceCall,
  { api }: ResourceDeps,
) {
  checkNames(query, "write");
  const nodeName = textAt(await readObject(request), "target.name");
  if (nodeName === "") throw badRequest("a binding names the node in target.name");
  const { namespace = "", name = "" } = route;
  const { dryRun, fieldManager } = writeOptions(query, request.headers["user-agent"] ?? "");
  bindPod(api, { namespace, name, nodeName, dryRun, by: fieldManager });
  return encoded(PLAIN, DONE, { status: 201 });
}

/** There are no disruption budgets here, so an eviction is a deletion. */
async function evict(
  definition: ResourceDefinition,
  { request, route, query }: ResourceCall,
  { api }: ResourceDeps,
) {
  checkNames(query, "write");
  const body = await readObject(request);
  const { name = "" } = route;
  if (nameOf(body) !== "" && nameOf(body) !== name)
    throw badRequest(`name in URL does not match name in Eviction object: ${name} != ${nameOf(body)}`);
  const options = deleteOptions(query, objectAt(body, "deleteOptions"));
  const dryRun = options.dryRun || isDryRun(query);
  api.delete({ ...collectionTarget(definition, route), name }, { ...options, dryRun });
  return encoded(PLAIN, DONE, { status: 201 });
}

const DEFAULT_SECONDS = 3600;
const LEAST_SECONDS = 600;
const TOKEN_REQUEST = { group: "authentication.k8s.io", kind: "TokenRequest" };

async function giveToken(
  definition: ResourceDefinition,
  { request, route, query }: ResourceCall,
  { api, clock, tokens }: ResourceDeps,
) {
  checkNames(query, "write");
  const body = await readObject(request);
  const { name = "", namespace = "" } = route;
  const account = api.get({ ...collectionTarget(definition, route), name });
  const seconds = numberAt(body, "spec.expirationSeconds") || DEFAULT_SECONDS;
  if (seconds < LEAST_SECONDS)
    throw invalid(TOKEN_REQUEST, "", [
      badValue("spec.expirationSeconds", seconds, "may not specify a duration less than 10 minutes"),
    ]);
  const expiresAtMs = clock.wallMs() + seconds * 1000;
  const answer = {
    kind: "TokenRequest",
    apiVersion: "authentication.k8s.io/v1",
    metadata: { name, namespace, creationTimestamp: timestamp(clock.wallMs()) },
    spec: { audiences: AUDIENCES, expirationSeconds: seconds, boundObjectRef: null },
    status: { token: tokens.issue(account, expiresAtMs), expirationTimestamp: timestamp(expiresAtMs) },
  };
  return encoded(PLAIN, answer, { status: 201 });
}

/** Only the finalizers in the spec are taken over. */
async function finalize(definition: ResourceDefinition, call: ResourceCall, deps: ResourceDeps) {
  const { request, route, query } = call;
  checkNames(query, "write");
  const body = await readObject(request);
  const target = { definition: NAMESPACES_TO_FINALIZE, name: route.name ?? "" };
  const options = writeOptions(query, request.headers["user-agent"] ?? "");
  const { object } = deps.api.update(target, body, options);
  return renderObject(renderingFor(definition, call, deps), object, { status: 200 });
}
