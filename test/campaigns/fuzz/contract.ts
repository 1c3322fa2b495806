import { Ajv2020 } from "ajv/dist/2020.js";
import type { SchemaNode, Schemas } from "./schema-values.ts";

/** A call as openapi.json describes it. */
export interface Operation {
  readonly method: string;
  /** With `{id}` and the like. */
  readonly path: string;
  /** What the body must be; absent: the call takes none. */
  readonly body?: SchemaNode;
  /** True when the body breaks the contract, whatever else it says. */
  readonly isSurelyWrong: (body: unknown) => boolean;
}

export interface Contract {
  readonly operations: readonly Operation[];
  readonly schemas: Schemas;
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: { readonly schemas: Schemas };
}

interface OpenApiOperation {
  readonly requestBody?: {
    readonly content: { readonly "application/json": { readonly schema: SchemaNode } };
  };
}

const ALL = "broker";
const NULL = { type: "null" };

/** Reads the document that the broker publishes: what it says there is what it is held to. */
export function readContract(document: string): Contract {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own generated document; a wrong shape shows at once
  const { paths, components } = JSON.parse(document) as OpenApi;
  const ajv = new Ajv2020({ strict: false, ownProperties: true, validateFormats: false });
  const schemas = Object.entries(components.schemas).map(([name, node]) => [name, lenient(node)] as const);
  ajv.addSchema({ $id: ALL, $defs: Object.fromEntries(schemas) });
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody }]): Operation => {
      const body = requestBody?.content["application/json"].schema;
      const fits = ajv.compile(body === undefined ? {} : lenient(body));
      return {
        method: method.toUpperCase(),
        path,
        ...(body === undefined ? {} : { body }),
        isSurelyWrong: (value) => !fits(value),
      };
    }),
  );
  return { operations, schemas: components.schemas };
}

/** Null counts as absent where a field may be absent, and as empty where a list is meant. */
function lenient(node: SchemaNode): object {
  const { properties, items, additionalProperties, type, $ref, ...rest } = node;
  const isOptional = (name: string): boolean => node.required?.includes(name) !== true;
  const fields = Object.entries(properties ?? {}).map(
    ([name, child]) => [name, isOptional(name) ? { anyOf: [NULL, lenient(child)] } : lenient(child)] as const,
  );
  return {
    ...rest,
    ...(type === undefined ? {} : { type: type === "array" ? ["array", "null"] : type }),
    ...($ref === undefined ? {} : { $ref: $ref.replace("#/components/schemas/", `${ALL}#/$defs/`) }),
    ...(properties === undefined ? {} : { properties: Object.fromEntries(fields) }),
    ...(items === undefined ? {} : { items: lenient(items) }),
    ...(typeof additionalProperties === "object"
      ? { additionalProperties: lenient(additionalProperties) }
      : {}),
  };
}
