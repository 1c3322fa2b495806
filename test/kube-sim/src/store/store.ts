import { type JsonObject, type JsonValue, metadataOf } from "../json.ts";
import { type Change, type History, history, type WatcherOptions, watchers } from "./changes.ts";

/** The objects of one cluster, their versions and what happened to them. Knows nothing of verbs. */
export interface Store {
  readonly version: () => number;
  /** The oldest version from which all later changes are still known. */
  readonly oldest: () => number;
  readonly get: (resource: string, key: string) => JsonObject | undefined;
  /** In order of keys. `at` an older version: as it was then, as long as `oldest` is not newer. */
  readonly page: (resource: string, query: PageQuery) => Page;
  readonly count: (resource: string, span: Span) => number;
  /** Stores the object under a new version, which it writes into metadata.resourceVersion. */
  readonly put: (resource: string, key: string, object: JsonObject) => JsonObject;
  readonly delete: (resource: string, key: string) => void;
  /** Changes after a version, as long as `oldest` is not newer. */
  readonly since: (version: number) => readonly Change[];
  /** Calls back for every later change, in order, also for those a callback makes. */
  readonly watch: (options: WatcherOptions) => () => void;
  readonly compact: () => void;
}

export interface PageQuery {
  readonly span: Span;
  readonly at: number;
  readonly limit: number;
  readonly matches: (object: JsonObject) => boolean;
}

export interface Page {
  readonly objects: readonly JsonObject[];
  /** The key of the last object, if there may be more. */
  readonly lastKey?: string;
}

/** A lower bound on the changes that are kept; larger stores keep a quarter of their size. */
const FEWEST_CHANGES = 1000;

export function createStore(): Store {
  const resources = new Map<string, SortedMap<JsonObject>>();
  const past = history();
  const audience = watchers();
  let version = 1;
  let size = 0;
  const objectsOf = (resource: string): SortedMap<JsonObject> => {
    const known = resources.get(resource);
    if (known !== undefined) return known;
    const fresh = sortedMap<JsonObject>();
    resources.set(resource, fresh);
    return fresh;
  };
  const commit = (change: Change) => {
    past.add(change, Math.max(FEWEST_CHANGES, size >>> 2));
    audience.notify(change);
  };
  return {
    version: () => version,
    oldest: () => past.oldest(),
    get: (resource, key) => resources.get(resource)?.get(key),
    count: (resource, span) => objectsOf(resource).count(span),
    page: (resource, query) => readPage(objectsOf(resource), undone(past, resource, query), query),
    put: (resource, key, object) => {
      const objects = objectsOf(resource);
      const before = objects.get(key);
      const after = withVersion(object, ++version);
      objects.set(key, after);
      if (before === undefined) size++;
      commit({ version, resource, key, after, ...(before === undefined ? {} : { before }) });
      return after;
    },
    delete: (resource, key) => {
      const objects = objectsOf(resource);
      const before = objects.get(key);
      if (before === undefined) return;
      objects.delete(key);
      size--;
      const last = withVersion(before, ++version);
      commit({ version, resource, key, before, last });
    },
    since: (after) => past.since(after),
    watch: (options) => audience.add(options),
    compact: () => past.forget(version),
  };
}

function withVersion(object: JsonObject, version: number): JsonObject {
  return deepFreeze({
    ...object,
    metadata: { ...metadataOf(object), resourceVersion: String(version) },
  });
}

/** Stops at what is frozen already: a write shares most of its object with the one before it. */
function deepFreeze<Value extends JsonValue | undefined>(value: Value): Value {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const part of Object.values(value)) deepFreeze(part);
  return value;
}

/** What the keys that have changed since held then; undefined: they did not exist. */
function undone(
  past: History,
  resource: string,
  { at, span }: PageQuery,
): ReadonlyMap<string, JsonObject | undefined> {
  const then = new Map<string, JsonObject | undefined>();
  for (const { resource: where, key, before } of past.since(at)) {
    if (where === resource && isWithin(key, span) && !then.has(key)) then.set(key, before);
  }
  return then;
}

function isWithin(key: string, { from, before }: Span): boolean {
  return key >= from && (before === undefined || key < before);
}

function readPage(
  objects: SortedMap<JsonObject>,
  then: ReadonlyMap<string, JsonObject | undefined>,
  { span, limit, matches }: PageQuery,
): Page {
  const found: JsonObject[] = [];
  let lastKey: string | undefined;
  for (const [key, object] of then.size === 0 ? objects.range(span) : asOf(objects, then, span)) {
    if (!matches(object)) continue;
    if (found.length === limit && lastKey !== undefined) return { objects: found, lastKey };
    found.push(object);
    lastKey = key;
  }
  return { objects: found };
}

function* asOf(
  objects: SortedMap<JsonObject>,
  then: ReadonlyMap<string, JsonObject | undefined>,
  span: Span,
): Generator<readonly [string, JsonObject]> {
  const gone = [...then.keys()].filter((key) => objects.get(key) === undefined).sort(byCodeUnits);
  let next = 0;
  const goneBefore = function* (key?: string): Generator<readonly [string, JsonObject]> {
    for (let old = gone[next]; old !== undefined && (key === undefined || old < key); old = gone[++next]) {
      const object = then.get(old);
      if (object !== undefined) yield [old, object];
    }
  };
  for (const [key, object] of objects.range(span)) {
    yield* goneBefore(key);
    const old = then.has(key) ? then.get(key) : object;
    if (old !== undefined) yield [key, old];
  }
  yield* goneBefore();
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** A map whose keys stay in order. */
interface SortedMap<Value> {
  readonly get: (key: string) => Value | undefined;
  readonly set: (key: string, value: Value) => void;
  readonly delete: (key: string) => void;
  /** In order, from the first key ≥ `from`, while keys are < `before`. Not to be used across a write. */
  readonly range: (span: Span) => Generator<readonly [string, Value]>;
  /** How many keys the span holds. */
  readonly count: (span: Span) => number;
}

/** From the first key on, up to but not including the second; absent: to the end. */
export interface Span {
  readonly from: string;
  readonly before?: string;
}

function sortedMap<Value>(): SortedMap<Value> {
  const values = new Map<string, Value>();
  /** A new key moves the ones behind it: some microseconds for the clusters of our tests. */
  const keys: string[] = [];
  const endOf = ({ before }: Span): number => (before === undefined ? keys.length : lowerBound(keys, before));
  return {
    get: (key) => values.get(key),
    set: (key, value) => {
      if (!values.has(key)) keys.splice(lowerBound(keys, key), 0, key);
      values.set(key, value);
    },
    delete: (key) => {
      if (values.delete(key)) keys.splice(lowerBound(keys, key), 1);
    },
    range: function* (span) {
      const end = endOf(span);
      for (let at = lowerBound(keys, span.from); at < end; at++) {
        const key = keys[at] ?? "";
        const value = values.get(key);
        if (value !== undefined) yield [key, value];
      }
    },
    count: (span) => Math.max(0, endOf(span) - lowerBound(keys, span.from)),
  };
}

/** The place of the first key ≥ the one asked for. */
function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] ?? "") < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
