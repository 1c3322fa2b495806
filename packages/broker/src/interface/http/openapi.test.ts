import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { RouteContext } from "./routes/context.ts";
import { allRoutes } from "./routes/routes.ts";

interface Operation {
  readonly requestBody?: { readonly required: boolean };
  readonly security?: readonly unknown[];
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const DOCUMENT = new URL("../../../../contract/openapi.json", import.meta.url);
const { paths } = JSON.parse(readFileSync(DOCUMENT, "utf8")) as Document;
const documented = new Map(
  Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(
      ([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const,
    ),
  ),
);
/** On the probe port only. */
const PROBE_PAGES = ["GET /metrics", "GET /readyz"];
/** Answered like its GET. */
const UNDOCUMENTED = ["HEAD /healthz"];

const routes = allRoutes({} as RouteContext);
const served = routes
  .map(({ method, path }) => `${method} ${path}`)
  .filter((name) => !UNDOCUMENTED.includes(name));

describe("openapi.json", () => {
  test("describes every call that is served, and every call it describes is served", () => {
    expect([...served, ...PROBE_PAGES].sort()).toEqual([...documented.keys()].sort());
  });

  test("and the routes agree on which calls take a body", () => {
    for (const { method, path, body } of routes) {
      const operation = documented.get(`${method} ${path}`);
      expect([method, path, operation?.requestBody !== undefined]).toEqual([
        method,
        path,
        body !== undefined,
      ]);
      if (body !== undefined) expect(operation?.requestBody?.required).toBe(body.isOptional !== true);
    }
  });
});
