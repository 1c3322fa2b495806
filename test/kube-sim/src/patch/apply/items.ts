import { badRequest } from "../../api/statuses.ts";
import type { JsonValue } from "../../json.ts";
import { isObject, own, textOf } from "../../json-access.ts";
import type { ListShape } from "./shape.ts";

/** The items of a list by their steps; a step that comes twice is refused, because nobody could say whose it is. */
export function itemsByStep(
  list: readonly JsonValue[],
  shape: Exclude<ListShape, { readonly kind: "atomic" }>,
): ReadonlyMap<string, JsonValue> {
  const items = new Map<string, JsonValue>();
  for (const item of list) {
    const step = shape.kind === "set" ? `v:${JSON.stringify(item)}` : keyStep(item, shape);
    if (items.has(step)) throw badRequest(`duplicate entries for key [${step.slice(2)}]`);
    items.set(step, item);
  }
  return items;
}

function keyStep(item: JsonValue, { keys, defaults }: Extract<ListShape, { readonly kind: "map" }>): string {
  if (!isObject(item))
    throw badRequest(`associative list with keys has an element that is no map: ${textOf(item)}`);
  const named = keys.toSorted().flatMap((key) => {
    const value = own(item, key) ?? own(defaults, key);
    return value === undefined ? [] : [[key, value] as const];
  });
  if (named.length === 0) {
    throw badRequest(
      `associative list with keys has an element that omits key field ${JSON.stringify(keys[0] ?? "")} (and doesn't have default value)`,
    );
  }
  return `k:${JSON.stringify(Object.fromEntries(named))}`;
}

/** The names of the fields that make the step of an item; none for other steps. */
export function keysIn(step: string): readonly string[] {
  const keys: unknown = step.startsWith("k:") ? JSON.parse(step.slice(2)) : undefined;
  return typeof keys === "object" && keys !== null ? Object.keys(keys) : [];
}
