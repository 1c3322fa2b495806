import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import type { ResourceDefinition } from "../../api/definition.ts";
import type { JsonObject } from "../../json.ts";
import { admitDefinition } from "../definition/admit-definition.ts";
import { definitionsOf } from "../definitions-of.ts";

const CRDS = new URL("../../../../../deploy/crds/", import.meta.url);

/** The CustomResourceDefinitions that this project ships. */
export function ourDefinitionFiles(): readonly JsonObject[] {
  return readdirSync(fileURLToPath(CRDS))
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => parse(readFileSync(new URL(name, CRDS), "utf8")) as JsonObject);
}

/** The kinds they add, by kind. */
export function ourDefinitions(): ReadonlyMap<string, ResourceDefinition> {
  const found = ourDefinitionFiles().flatMap((object) => {
    const admission = admitDefinition({ object, isStatus: false, fieldValidation: "Strict" });
    if (!admission.ok) throw new Error(JSON.stringify(admission.causes));
    return definitionsOf(admission.object);
  });
  return new Map(found.map((definition) => [definition.kind, definition]));
}
