import { FAULTS } from "@resource-broker/base";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { componentSchemas } from "./components.ts";
import { openApiDocument } from "./document.ts";
import type { Body } from "./route.ts";
import { ROUTES } from "./routes.ts";

const document = openApiDocument();
const text = JSON.stringify(document);
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema({ $id: "broker", ...document });

test("every reference leads somewhere", () => {
  const references = [...text.matchAll(/"\$ref":"(#[^"]+)"/g)].map(([, reference = ""]) => reference);
  expect(references.length).toBeGreaterThan(100);
  expect([...new Set(references)].filter((reference) => lookUp(reference) === undefined)).toEqual([]);
});

test("operation ids are unique, and path parameters are declared", () => {
  const ids = ROUTES.map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { call, parameters = [] } of ROUTES) {
    const named = parameters.map((name) => lookUp(`#/components/parameters/${name}`)).filter(isInPath);
    expect(named.map(({ name }) => `{${name}}`)).toEqual(call.match(/\{\w+\}/g) ?? []);
  }
});

test("calls need a client certificate, probes do not", () => {
  expect(document).toMatchObject({
    openapi: "3.1.0",
    security: [{ mutualTLS: [] }],
    components: { securitySchemes: { mutualTLS: { type: "mutualTLS" } } },
    paths: { "/healthz": { get: { security: [] } } },
  });
});

test("every fault is documented by some call", () => {
  expect(Object.keys(FAULTS).filter((code) => !text.includes(`"${code}":{"value"`))).toEqual([]);
});

test("nothing of our own keywords leaks out", () => {
  expect(text).not.toContain('"x-');
});

describe.each(Object.keys(componentSchemas()))("component %s", (name) => {
  test("is a valid JSON Schema", () => {
    expect(() => ajv.compile({ $ref: `broker#/components/schemas/${name}` })).not.toThrow();
  });
});

const bodies = ROUTES.flatMap(({ operationId, body, reply }) => [
  ...(body === undefined ? [] : [[`${operationId} request`, body] as const]),
  ...(reply.body === undefined ? [] : [[`${operationId} reply`, reply.body] as const]),
]);

test.each(bodies)("the example of %s fits its schema", (_, { schema, example }: Body) => {
  const accepts = ajv.compile({ $ref: `broker#/components/schemas/${schema.title}` });
  // As a reader of the document gets it: undefined fields are not there.
  const written: unknown = JSON.parse(JSON.stringify(example));
  expect({ accepted: accepts(written), errors: accepts.errors }).toEqual({ accepted: true, errors: null });
});

function lookUp(reference: string): unknown {
  return reference
    .slice(2)
    .split("/")
    .reduce<unknown>((node, key) => (isObject(node) ? node[key] : undefined), document);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function isInPath(value: unknown): value is { readonly name: string } {
  return isObject(value) && value["in"] === "path";
}
