import type { Field, MessageFields } from "../fields.ts";

/** What reading an object in part must give, computed from its JSON and not from its bytes. */
export function projection(fields: MessageFields, object: object): object {
  const json = new Map(Object.entries(object));
  const found = Object.values(fields).map((field): [string, unknown] => [
    field.name,
    projected(field, json.get(field.name)),
  ]);
  return Object.fromEntries(found.filter(([, value]) => value !== undefined));
}

function projected(field: Field, value: unknown): unknown {
  if (value === undefined || value === null) return undefined;
  if (Array.isArray(value)) return nonEmpty(chosenItems(field, value).map((item) => one(field, item)));
  if (isMap(field)) return nonEmpty(chosenEntries(field, value));
  return isLeftOut(field, value) ? undefined : one(field, value);
}

function isLeftOut({ isKeptWhenZero }: Field, value: unknown): boolean {
  return isKeptWhenZero !== true && (value === "" || value === 0 || value === false);
}

function one({ kind }: Field, value: unknown): unknown {
  return typeof kind === "object" ? projection(kind.message, value as object) : value;
}

/** Conditions of the types that are asked for. */
function chosenItems({ only }: Field, items: readonly unknown[]): readonly unknown[] {
  return only === undefined ? items : items.filter((item) => only.includes((item as { type: string }).type));
}

function chosenEntries({ only }: Field, map: object): object {
  return Object.fromEntries(Object.entries(map).filter(([key]) => only?.includes(key) !== false));
}

function nonEmpty(value: object): object | undefined {
  return Object.keys(value).length === 0 ? undefined : value;
}

const isMap = ({ kind }: Field): boolean => kind === "string-map" || kind === "quantity-map";
