import type { ResourceDefinition } from "../api/definition.ts";
import { isObject } from "../core/look.ts";
import { METADATA } from "../core/schema/metadata.ts";
import type { JsonObject } from "../json.ts";

/** OpenAPI v3 as far as kubectl reads it: kinds and their fields, and which query parameters writes understand. */

export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

const METADATA_NAME = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const WRITE_PARAMETERS = ["dryRun", "fieldManager", "fieldValidation"].map(parameter);

/** `api/v1`, `apis/coordination.k8s.io/v1`. */
function rootOf({ group, version }: GroupVersion): string {
  return group === "" ? `api/${version}` : `apis/${group}/${version}`;
}

export function openapiIndex(definitions: readonly ResourceDefinition[]): JsonObject {
  const roots = [...new Set(definitions.map(rootOf))].sort();
  return {
    paths: Object.fromEntries(roots.map((root) => [root, { serverRelativeURL: `/openapi/v3/${root}` }])),
  };
}

export function openapiDocument(
  definitions: readonly ResourceDefinition[],
  groupVersion: GroupVersion,
): JsonObject | undefined {
  const root = rootOf(groupVersion);
  const here = definitions.filter((definition) => rootOf(definition) === root);
  if (here.length === 0) return undefined;
  return {
    openapi: "3.0.0",
    info: { title: "kube-sim", version: "v1" },
    paths: Object.fromEntries(here.flatMap((definition) => pathsOf(definition, `/${root}`))),
    components: {
      schemas: {
        [METADATA_NAME]: METADATA,
        ...Object.fromEntries(here.map((definition) => [schemaName(definition), schemaOf(definition)])),
      },
    },
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
  const operation = (action: string, parameters: readonly JsonObject[] = []): JsonObject => ({
    operationId: `${action}${definition.kind}`,
    parameters,
    responses: { "200": { description: "OK" } },
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": gvkOf(definition),
  });
  return [
    [collection, { get: operation("list"), post: operation("post", WRITE_PARAMETERS) }],
    [
      `${collection}/{name}`,
      {
        get: operation("get"),
        put: operation("put", WRITE_PARAMETERS),
        patch: operation("patch", [...WRITE_PARAMETERS, parameter("force")]),
        delete: operation("delete", [parameter("dryRun")]),
      },
    ],
  ];
}

function parameter(name: string): JsonObject {
  return { name, in: "query", schema: { type: "string", uniqueItems: true } };
}

function schemaOf(definition: ResourceDefinition): JsonObject {
  const schema = definition.schema ?? { type: "object" };
  const { properties } = schema;
  return {
    ...schema,
    properties: {
      apiVersion: { type: "string", description: "Group and version of the kind." },
      kind: { type: "string", description: "The kind of the object." },
      ...(isObject(properties) ? properties : {}),
      metadata: {
        description: "What every object carries about itself.",
        allOf: [{ $ref: `#/components/schemas/${METADATA_NAME}` }],
      },
    },
    "x-kubernetes-group-version-kind": [gvkOf(definition)],
  };
}
