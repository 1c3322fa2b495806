import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { customResourceDefinition, KINDS } from "../src/crd/definition.ts";
import { crdYaml, generatedFiles } from "./outputs.ts";

const root = new URL("../../../", import.meta.url);

test.each([...generatedFiles()])("%s is up to date (npm run generate)", (path, text) => {
  const file = new URL(path, root);
  expect(existsSync(file) && readFileSync(file, "utf8") === text).toBe(true);
});

test("two runs give the same bytes", () => {
  expect([...generatedFiles()]).toEqual([...generatedFiles()]);
});

test.each([...generatedFiles()])("%s says that it is generated", (_, text) => {
  expect(text).toContain("Do not edit: run `npm run generate`.");
});

test.each(KINDS.map((kind) => [kind.kind, kind] as const))(
  "the YAML of %s reads back as its definition",
  (_, kind) => {
    const definition = customResourceDefinition(kind);
    expect(parse(crdYaml(definition))).toEqual(JSON.parse(JSON.stringify(definition)));
  },
);
