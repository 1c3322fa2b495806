import type { ResourceDefinition } from "../api/definition.ts";
import { badRequest } from "../api/statuses.ts";
import type { JsonObject } from "../json.ts";
import { nameOf, namespaceOf, own } from "../json-access.ts";

export interface FieldSelector {
  readonly matches: (object: JsonObject) => boolean;
  /** The only name that can match, if the selector says one. */
  readonly name?: string;
}

/** Reads `metadata.name=a,status.phase!=Running`; a field the kind does not offer is a BadRequest, never ignored. */
export function fieldSelector(definition: ResourceDefinition, text: string): FieldSelector {
  const terms = splitTerms(text)
    .filter((term) => term !== "")
    .map((term) => termOf(definition, text, term));
  const name = terms.find(({ field, isEqual }) => field === "metadata.name" && isEqual)?.value;
  return {
    matches: (object) => terms.every(({ read, isEqual, value }) => (read(object) === value) === isEqual),
    ...(name === undefined ? {} : { name }),
  };
}

interface Term {
  readonly field: string;
  readonly isEqual: boolean;
  readonly value: string;
  readonly read: (object: JsonObject) => string;
}

function termOf(definition: ResourceDefinition, selector: string, term: string): Term {
  const parts = /^(?<field>.*?)(?<operator>!=|==|=)(?<value>.*)$/s.exec(term)?.groups;
  const { field, operator, value } = parts ?? {};
  if (field === undefined || operator === undefined || value === undefined) {
    throw badRequest(`invalid selector: '${selector}'; can't understand '${term}'`);
  }
  return { field, isEqual: operator !== "!=", value: unescaped(value), read: readerOf(definition, field) };
}

function readerOf(definition: ResourceDefinition, field: string): (object: JsonObject) => string {
  if (field === "metadata.name") return nameOf;
  if (field === "metadata.namespace" && definition.isNamespaced) return namespaceOf;
  const read = own(definition.selectableFields, field);
  if (read === undefined) throw badRequest(`field label not supported: ${field}`);
  return read;
}

/** A comma or an equals sign in a value is written with a backslash. */
function splitTerms(text: string): readonly string[] {
  return text.split(/(?<=(?<!\\)(?:\\\\)*),/).map((term) => term.replace(/(?<!\\)((?:\\\\)*),$/, "$1"));
}

function unescaped(value: string): string {
  return value.replace(/\\(.)|\\$|[,=]/gs, (found: string, escaped: string | undefined) => {
    if (escaped !== undefined && "\\,=".includes(escaped)) return escaped;
    if (found.startsWith("\\")) throw badRequest(`invalid field selector: invalid escape sequence: ${found}`);
    throw badRequest(`invalid field selector: unescaped '${found}' in value: ${value}`);
  });
}
