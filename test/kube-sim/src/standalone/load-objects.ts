import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "@resource-broker/base";
import { parseAllDocuments } from "yaml";
import { objectsAt } from "../core/look.ts";
import type { JsonObject } from "../json.ts";
import { isJsonObject } from "../json-value.ts";

/** The objects of YAML and JSON files and of folders of them, in the order of their names; lists are opened. */
export async function loadObjects(paths: readonly string[]): Promise<readonly JsonObject[]> {
  const files = (await Promise.all(paths.map(filesOf))).flat();
  const objects = await Promise.all(files.map(objectsOf));
  return objects.flat();
}

async function filesOf(path: string): Promise<readonly string[]> {
  const found = await stat(path).catch((cause: unknown) => {
    throw new Fault("invalid", `${path}: there is no such file or folder`, { cause });
  });
  if (!found.isDirectory()) return [path];
  const names = await readdir(path);
  return names
    .filter((name) => /\.(?:ya?ml|json)$/u.test(name))
    .sort()
    .map((name) => join(path, name));
}

async function objectsOf(file: string): Promise<readonly JsonObject[]> {
  const documents = parseAllDocuments(await readFile(file, "utf8"));
  if (!Array.isArray(documents)) return [];
  return documents.flatMap((document) => {
    const [problem] = document.errors;
    if (problem !== undefined) throw new Fault("invalid", `${file}: ${problem.message}`);
    const value: unknown = document.toJS();
    if (value === null) return [];
    if (!isJsonObject(value)) throw new Fault("invalid", `${file}: holds something that is no object`);
    return value["kind"] === "List" ? objectsAt(value, "items") : [value];
  });
}
