import { badRequest, failure } from "../api/statuses.ts";
import { isList, isObject, isSame, type JsonObject, type JsonValue, own, textOf } from "../json.ts";

/** The merge key of a list by its path, such as `spec.containers` → `name`. */
export type MergeKeys = Readonly<Record<string, string>>;

const DIRECTIVE = "$patch";
/** The order of a merged list is the server's choice here: it is read and not followed. */
const ELEMENT_ORDER = "$setElementOrder/";
/** In every kind. */
const METADATA_KEYS: MergeKeys = { "metadata.ownerReferences": "uid" };
/** Lists of texts that are merged, not replaced. */
const MERGED_TEXTS = ["metadata.finalizers"];

/** A strategic merge patch: a merge patch whose lists of objects are merged by their keys. */
export function strategicPatch(object: JsonObject, patch: JsonObject, mergeKeys: MergeKeys): JsonObject {
  const merged = mergeObject(object, patch, { path: "", keys: { ...METADATA_KEYS, ...mergeKeys } });
  return merged ?? {};
}

interface Place {
  readonly path: string;
  readonly keys: MergeKeys;
}

/** Undefined: the patch takes the object away. */
function mergeObject(old: JsonObject, patch: JsonObject, place: Place): JsonObject | undefined {
  const directive = directiveOf(patch);
  if (directive === "delete") return undefined;
  const merged = new Map(directive === "replace" ? [] : Object.entries(old));
  for (const [name, value] of Object.entries(patch)) {
    if (name.startsWith("$")) continue;
    const field = fieldOf(place, name);
    const next = value === undefined ? undefined : mergeValue(merged.get(name), value, field);
    if (next === undefined) merged.delete(name);
    else merged.set(name, next);
  }
  return Object.fromEntries(merged);
}

function fieldOf({ path, keys }: Place, name: string): Place {
  return { path: path === "" ? name : `${path}.${name}`, keys };
}

function mergeValue(old: JsonValue | undefined, patch: JsonValue, place: Place): JsonValue | undefined {
  if (patch === null) return undefined;
  if (isObject(patch)) return mergeObject(isObject(old) ? old : {}, patch, place);
  if (isList(patch)) return mergeList(isList(old) ? old : [], patch, place);
  return patch;
}

function mergeList(
  old: readonly JsonValue[],
  patch: readonly JsonValue[],
  place: Place,
): readonly JsonValue[] {
  if (MERGED_TEXTS.includes(place.path)) {
    return [...old, ...patch.filter((item) => !old.some((other) => isSame(item, other)))];
  }
  const key = own(place.keys, place.path);
  if (key === undefined) return patch;
  const items = patch.map((item) => keyedItem(item, key));
  const isWhole = items.some((item) => item[DIRECTIVE] === "replace");
  const merged = isWhole ? [] : [...old];
  for (const item of items) {
    // `{"$patch": "replace"}` beside the new items: the old ones go.
    if (item[DIRECTIVE] !== "replace") mergeItem(merged, item, { key, place });
  }
  return merged;
}

function keyedItem(item: JsonValue, key: string): JsonObject {
  if (!isObject(item))
    throw badRequest(`a list that is merged by ${key} holds ${textOf(item)}, which is no object`);
  if (item[key] === undefined && item[DIRECTIVE] !== "replace") {
    throw badRequest(`map: ${textOf(item)} does not contain declared merge key: ${key}`);
  }
  return item;
}

function mergeItem(
  merged: JsonValue[],
  item: JsonObject,
  { key, place }: { readonly key: string; readonly place: Place },
): void {
  const at = merged.findIndex((other) => isObject(other) && isSame(other[key], item[key]));
  const old = merged[at];
  const next = mergeObject(isObject(old) ? old : {}, item, place);
  if (next !== undefined && at < 0) merged.push(next);
  else if (next !== undefined) merged[at] = next;
  else if (at >= 0) merged.splice(at, 1);
}

/** What cannot be followed is refused: a patch that is half understood would corrupt the object. */
function directiveOf(patch: JsonObject): "merge" | "replace" | "delete" {
  for (const name of Object.keys(patch)) {
    const isKnown = name === DIRECTIVE || name.startsWith(ELEMENT_ORDER);
    if (name.startsWith("$") && !isKnown) {
      throw failure(501, "NotImplemented", `the strategic merge patch directive ${name} is not supported`);
    }
  }
  const directive = patch[DIRECTIVE] ?? "merge";
  if (directive === "merge" || directive === "replace" || directive === "delete") return directive;
  throw badRequest(`Unknown patch type found: ${textOf(directive)}`);
}
