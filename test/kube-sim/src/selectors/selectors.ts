import type { ResourceDefinition, Selection } from "../api/cluster-api.ts";
import { badRequest } from "../api/statuses.ts";
import { type JsonObject, metadataOf, nameOf, namespaceOf, objectAt, own } from "../json.ts";

export interface Selector {
  readonly matches: (object: JsonObject) => boolean;
  /** The only name that can match, if the selector says one. */
  readonly name?: string;
}

const EVERYTHING: Selector = { matches: () => true };

/** What cannot be read, and a field that the kind does not offer, is a BadRequest, never ignored. */
export function selectorOf(definition: ResourceDefinition, selection: Selection): Selector {
  const labels = labelRequirements(selection.labelSelector ?? "");
  const fields = fieldTerms(definition, selection.fieldSelector ?? "");
  if (labels.length === 0 && fields.length === 0) return EVERYTHING;
  const name = fields.find(({ field, isEqual }) => field === "metadata.name" && isEqual)?.value;
  return {
    matches: (object) => {
      if (!fields.every(({ read, isEqual, value }) => (read(object) === value) === isEqual)) return false;
      const given = objectAt(metadataOf(object), "labels");
      return labels.every((requirement) => requirement(given));
    },
    ...(name === undefined ? {} : { name }),
  };
}

type Requirement = (labels: JsonObject) => boolean;

const WORD = "[^\\s=!(),<>]+";
/** `!name`, `name`, `name = value`, `name in (a, b)`. */
const REQUIREMENT = new RegExp(
  `^\\s*(?:!\\s*(?<absent>${WORD})|(?<name>${WORD})(?:\\s*(?:(?<sign>==|!=|=)\\s*(?<value>${WORD})?` +
    `|\\s(?<set>in|notin)\\s*\\((?<list>[^=!()<>]*)\\)))?)\\s*$`,
  "u",
);

/** Reads `a=b, c in (d, e), !f`. */
function labelRequirements(text: string): readonly Requirement[] {
  if (text.trim() === "") return [];
  // The commas between parentheses belong to a list of values.
  return text.split(/,(?![^(]*\))/u).map((term) => {
    const found: Found | undefined = REQUIREMENT.exec(term)?.groups;
    if (found === undefined) throw unreadable(`found '${term.trim()}', expected: a requirement`);
    return requirementOf(found);
  });
}

type Found = Readonly<Record<string, string | undefined>>;

function requirementOf(found: Found): Requirement {
  const { absent, sign, set } = found;
  const name = absent ?? found["name"] ?? "";
  if (absent !== undefined) return (labels) => !Object.hasOwn(labels, name);
  const operator = sign ?? set;
  return operator === undefined ? (labels) => Object.hasOwn(labels, name) : comparison(name, operator, found);
}

function comparison(name: string, operator: string, { value = "", list }: Found): Requirement {
  const wanted = new Set<unknown>(list?.split(",").map((item) => item.trim()) ?? [value]);
  const isExcluded = operator === "!=" || operator === "notin";
  return (labels) => wanted.has(own(labels, name)) !== isExcluded;
}

function unreadable(why: string): Error {
  return badRequest(`unable to parse requirement: ${why}`);
}

interface Term {
  readonly field: string;
  readonly isEqual: boolean;
  readonly value: string;
  readonly read: (object: JsonObject) => string;
}

/** Reads `metadata.name=a,status.phase!=Running`. */
function fieldTerms(definition: ResourceDefinition, text: string): readonly Term[] {
  const terms = text.split(",").filter((term) => term !== "");
  return terms.map((term) => {
    const { field, sign, value } = /^(?<field>.*?)(?<sign>!=|==|=)(?<value>.*)$/su.exec(term)?.groups ?? {};
    if (field === undefined || value === undefined)
      throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
    return { field, isEqual: sign !== "!=", value, read: readerOf(definition, field) };
  });
}

function readerOf(definition: ResourceDefinition, field: string): (object: JsonObject) => string {
  if (field === "metadata.name") return nameOf;
  if (field === "metadata.namespace" && definition.isNamespaced) return namespaceOf;
  const read = own(definition.selectableFields, field);
  if (read === undefined) throw badRequest(`field label not supported: ${field}`);
  return read;
}
