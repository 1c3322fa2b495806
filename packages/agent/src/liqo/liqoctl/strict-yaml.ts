import { Fault } from "@resource-broker/base";
import type { ParsedNode } from "yaml";

/** A value without anchors, aliases, tags, merge keys or duplicate keys, so that all YAML parsers agree on it. */
export type PlainValue = string | number | boolean | null | readonly PlainValue[] | PlainFields;
export interface PlainFields extends ReadonlyMap<string, PlainValue> {}

const SHOWN_LENGTH = 60;

/**
 * Reads one YAML document and refuses what parsers disagree on. Faults name the field and never contain a
 * value, which may be a secret.
 */
export async function readStrictYaml(text: string): Promise<PlainValue> {
  // Loaded on first use: it takes 7 MB.
  const yaml = await import("yaml");
  const [document, ...others] = yaml.parseAllDocuments(text, { uniqueKeys: false, logLevel: "error" });
  if (document === undefined || others.length > 0) {
    throw invalid(`it must hold one YAML document, not ${document === undefined ? "none" : "several"}`);
  }
  const [error] = document.errors;
  if (error !== undefined) throw invalid(`it is not YAML (line ${error.linePos?.[0].line ?? "unknown"})`);
  if (document.directives.yaml.explicit === true) throw invalid("%YAML is refused: leave the line out");

  const plain = (node: ParsedNode | null, place: string): PlainValue => {
    if (node === null) return null;
    if (yaml.isAlias(node)) throw invalid(`${place} is an alias (*), which is refused: write the value out`);
    if (node.anchor !== undefined) {
      throw invalid(`${place} has an anchor (&), which is refused: leave it out`);
    }
    if (node.tag !== undefined) throw invalid(`${place} has a tag (!), which is refused: leave it out`);
    if (yaml.isSeq(node)) return node.items.map((item, index) => plain(item, `${place}[${index}]`));
    if (yaml.isMap(node)) return plainFields(node.items, place);
    return plainScalar(node.value, place);
  };
  const plainFields = (pairs: Extract<ParsedNode, { items: { key: unknown }[] }>["items"], place: string) => {
    const fields = new Map<string, PlainValue>();
    for (const { key, value } of pairs) {
      const name = plain(key, `a key of ${place}`);
      if (typeof name !== "string") throw invalid(`a key of ${place} is not text: put it in quotes`);
      const field = `${place === "it" ? "" : `${place}.`}${shownName(name)}`;
      if (name === "<<") throw invalid(`${field} is a merge key, which is refused: write the fields out`);
      if (fields.has(name)) throw invalid(`${field} is there twice: remove one`);
      fields.set(name, plain(value, field));
    }
    return fields;
  };
  return plain(document.contents, "it");
}

function plainScalar(value: unknown, place: string): PlainValue {
  if (value === null || typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return value;
  throw invalid(`${place} is no text: put it in quotes`);
}

export function isList(value: PlainValue | undefined): value is readonly PlainValue[] {
  return Array.isArray(value);
}

/** A foreign name, made safe for a message. */
export function shownName(name: string): string {
  return /^[\w-]+$/u.test(name) && name.length <= SHOWN_LENGTH
    ? name
    : JSON.stringify(name.slice(0, SHOWN_LENGTH)).replaceAll(/[^\u0020-\u007e]/gu, "?");
}

export function invalid(problem: string): Fault {
  return new Fault("invalid", problem);
}
