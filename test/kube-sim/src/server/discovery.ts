import type { ClusterApi, ResourceDefinition } from "../api/cluster-api.ts";
import { apiVersionOf } from "../api/registry.ts";
import { pathNotFound } from "../api/statuses.ts";
import { METADATA } from "../core/built-in.ts";
import { type JsonObject, objectAt } from "../json.ts";
import type { Answer } from "./http.ts";
import { jsonAnswer } from "./render.ts";
import { REVIEWS } from "./users.ts";

/** Everything that is not about objects: which kinds there are, what they look like, and how the server is. */

interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** The version whose behaviour is followed. */
const SERVER_VERSION: JsonObject = {
  major: "1",
  minor: "32",
  gitVersion: "v1.32.0+kube-sim",
  gitCommit: "",
  gitTreeState: "clean",
  buildDate: "2026-01-01T00:00:00Z",
  goVersion: "none",
  compiler: "none",
  platform: "kube-sim/any",
};

/** What a probe or a version check may ask without a name. */
export function isPublic([first = ""]: readonly string[]): boolean {
  return ["version", "healthz", "livez", "readyz"].includes(first);
}

export function staticAnswer(parts: readonly string[], api: ClusterApi, accept: string): Answer {
  const [first = "", ...rest] = parts;
  if (first !== "version" && isPublic(parts))
    return { kind: "whole", status: 200, contentType: "text/plain", body: "ok" };
  if (first === "openapi" && rest[0] === "v2") return openapiV2(accept);
  const body = staticBody(first, rest, api.definitions());
  if (body === undefined) throw pathNotFound();
  return jsonAnswer(body, { status: 200 });
}

function staticBody(
  first: string,
  rest: readonly string[],
  definitions: readonly ResourceDefinition[],
): JsonObject | undefined {
  const [one, two] = rest;
  if (first === "version") return SERVER_VERSION;
  if (first === "api")
    return one === undefined
      ? { kind: "APIVersions", versions: ["v1"] }
      : resourceList(definitions, { group: "", version: one });
  if (first === "openapi" && one === "v3") return openapi(definitions, rest.slice(1).join("/"));
  if (first !== "apis") return undefined;
  if (one === undefined) return groupList(definitions);
  return two === undefined
    ? groupOf(definitions, one)
    : resourceList(definitions, { group: one, version: two });
}

/** In the old unaggregated form that every client falls back to. */
function groupList(definitions: readonly ResourceDefinition[]): JsonObject {
  const names = [...definitions, ...REVIEWS].map(({ group }) => group).filter((group) => group !== "");
  const groups = [...new Set(names)].sort().map((group) => groupOf(definitions, group) ?? {});
  return { kind: "APIGroupList", apiVersion: "v1", groups };
}

function groupOf(definitions: readonly ResourceDefinition[], name: string): JsonObject | undefined {
  const here = [...definitions, ...REVIEWS].filter(({ group }) => group === name);
  const versions = [...new Set(here.map(({ version }) => version))]
    .sort(compareVersions)
    .map((version) => ({ groupVersion: apiVersionOf({ group: name, version }), version }));
  const [preferredVersion] = versions;
  if (preferredVersion === undefined) return undefined;
  return { kind: "APIGroup", apiVersion: "v1", name, versions, preferredVersion };
}

/** Released before beta before alpha, newer before older. */
function compareVersions(a: string, b: string): number {
  const rank = (version: string): number => ["alpha", "beta"].findIndex((stage) => version.includes(stage));
  const order = (version: string): number => (rank(version) + 3) % 3;
  return order(b) - order(a) || b.localeCompare(a, "en", { numeric: true });
}

const VERBS = ["create", "delete", "get", "list", "patch", "update", "watch"];

function resourceList(
  definitions: readonly ResourceDefinition[],
  groupVersion: GroupVersion,
): JsonObject | undefined {
  const isHere = (one: GroupVersion): boolean => apiVersionOf(one) === apiVersionOf(groupVersion);
  const reviews = REVIEWS.filter(isHere).map(({ plural, kind }) =>
    entry(plural, { kind, verbs: ["create"] }),
  );
  const resources = [...definitions.filter(isHere).flatMap(entriesOf), ...reviews];
  if (resources.length === 0) return undefined;
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion: apiVersionOf(groupVersion), resources };
}

function entry(name: string, more: JsonObject): JsonObject {
  return { name, singularName: "", namespaced: false, ...more };
}

function entriesOf(definition: ResourceDefinition): readonly JsonObject[] {
  const { plural, singular, isNamespaced, kind, shortNames, categories, hasStatus } = definition;
  const common = { namespaced: isNamespaced, kind };
  return [
    entry(plural, { ...common, singularName: singular, verbs: VERBS, shortNames, categories }),
    ...(hasStatus ? [entry(`${plural}/status`, { ...common, verbs: ["get", "patch", "update"] })] : []),
    ...(definition.group === "" ? (SUBRESOURCES[plural] ?? []) : []),
  ];
}

const SUBRESOURCES: Readonly<Record<string, readonly JsonObject[]>> = {
  serviceaccounts: [
    entry("serviceaccounts/token", {
      namespaced: true,
      group: "authentication.k8s.io",
      version: "v1",
      kind: "TokenRequest",
      verbs: ["create"],
    }),
  ],
  pods: [
    entry("pods/eviction", {
      namespaced: true,
      group: "policy",
      version: "v1",
      kind: "Eviction",
      verbs: ["create"],
    }),
  ],
};

const METADATA_NAME = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/** OpenAPI v3 as far as kubectl reads it: kinds and their fields, and which query parameters writes understand. */
function openapi(definitions: readonly ResourceDefinition[], root: string): JsonObject | undefined {
  const rootOf = (one: ResourceDefinition): string =>
    `${one.group === "" ? "api" : "apis"}/${apiVersionOf(one)}`;
  if (root === "") {
    const roots = [...new Set(definitions.map(rootOf))].sort();
    const paths = roots.map((path) => [path, { serverRelativeURL: `/openapi/v3/${path}` }] as const);
    return { paths: Object.fromEntries(paths) };
  }
  const here = definitions.filter((definition) => rootOf(definition) === root);
  if (here.length === 0) return undefined;
  const schemas = here.map((definition) => [schemaName(definition), schemaOf(definition)] as const);
  return {
    openapi: "3.0.0",
    info: { title: "kube-sim", version: "v1" },
    paths: Object.fromEntries(here.flatMap((definition) => pathsOf(definition, `/${root}`))),
    components: { schemas: { [METADATA_NAME]: METADATA, ...Object.fromEntries(schemas) } },
  };
}

function schemaName({ group, version, kind }: ResourceDefinition): string {
  return [...(group === "" ? ["core"] : group.split(".").reverse()), version, kind].join(".");
}

function gvkOf({ group, version, kind }: ResourceDefinition): JsonObject {
  return { group, version, kind };
}

function pathsOf(definition: ResourceDefinition, root: string): readonly [string, JsonObject][] {
  const { plural, isNamespaced } = definition;
  const collection = isNamespaced ? `${root}/namespaces/{namespace}/${plural}` : `${root}/${plural}`;
  const operation = (action: string): JsonObject => ({
    operationId: `${action}${definition.kind}`,
    parameters: ["dryRun", "fieldManager", "fieldValidation", "force"].map((name) => ({
      name,
      in: "query",
      schema: { type: "string", uniqueItems: true },
    })),
    responses: { "200": { description: "OK" } },
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": gvkOf(definition),
  });
  const actions = (...names: readonly string[]): JsonObject =>
    Object.fromEntries(names.map((name) => [name, operation(name)]));
  return [
    [collection, { get: operation("list"), post: operation("post") }],
    [`${collection}/{name}`, actions("get", "put", "patch", "delete")],
  ];
}

function schemaOf(definition: ResourceDefinition): JsonObject {
  const schema = definition.schema ?? { type: "object" };
  return {
    ...schema,
    properties: {
      apiVersion: { type: "string", description: "Group and version of the kind." },
      kind: { type: "string", description: "The kind of the object." },
      ...objectAt(schema, "properties"),
      metadata: {
        description: "What every object carries about itself.",
        allOf: [{ $ref: `#/components/schemas/${METADATA_NAME}` }],
      },
    },
    "x-kubernetes-group-version-kind": [gvkOf(definition)],
  };
}

const OPENAPI_V2_ASKED = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
/** The type that is asked for is no media type that Go can read. */
const OPENAPI_V2_ANSWERED = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
/** A document whose only field is its first, the version "2.0". */
const EMPTY_OPENAPI_V2 = Uint8Array.from([0x0a, 3, 0x32, 0x2e, 0x30]);

/** kubectl asks for the older description now and then and wants one; what it looks for is in the newer. */
function openapiV2(accept: string): Answer {
  if (!accept.includes(OPENAPI_V2_ASKED))
    return jsonAnswer(
      { swagger: "2.0", info: { title: "kube-sim", version: "v1" }, paths: {} },
      { status: 200 },
    );
  return { kind: "whole", status: 200, contentType: OPENAPI_V2_ANSWERED, body: EMPTY_OPENAPI_V2 };
}
