import { Fault } from "@resource-broker/base";
import { LIMIT } from "@resource-broker/contract";

const MAX_OFFSET = 10_000_000;

/** Which rows are wanted, in which order; what each list filters by comes on top. */
export interface ListQuery<Sort extends string> {
  readonly sort: Sort;
  readonly isDescending: boolean;
  /** In lower case; "": everything. */
  readonly text: string;
  readonly offset: number;
  readonly limit: number;
}

interface ListRules<Sort extends string> {
  readonly sorts: readonly Sort[];
  readonly defaultSort: Sort;
  /** Sorted by this, the highest comes first unless the caller says otherwise. */
  readonly descendingSort?: Sort;
}

export function readListQuery<Sort extends string>(
  query: Query,
  { sorts, defaultSort, descendingSort }: ListRules<Sort>,
): ListQuery<Sort> {
  const sort = oneOf(query, "sort", sorts) ?? defaultSort;
  const order = oneOf(query, "order", ["asc", "desc"]) ?? (sort === descendingSort ? "desc" : "asc");
  return {
    sort,
    isDescending: order === "desc",
    text: textOf(query, "q").toLowerCase(),
    ...readSlice(query),
  };
}

export function readSlice(query: Query): { readonly offset: number; readonly limit: number } {
  return {
    offset: wholeNumber(query, "offset", { fallback: 0, minimum: 0, maximum: MAX_OFFSET }),
    limit: wholeNumber(query, "limit", { fallback: LIMIT.pageDefault, minimum: 1, maximum: LIMIT.pageMax }),
  };
}

/** One of a closed list of words; undefined: not given, or given as nothing. */
export function oneOf<T extends string>(query: Query, name: string, choices: readonly T[]): T | undefined {
  const text = query.one(name) ?? "";
  if (text === "") return undefined;
  const choice = choices.find((each) => each === text);
  if (choice === undefined) throw new Fault("invalid", `${name} must be one of ${choices.join(", ")}`);
  return choice;
}

export function textOf(query: Query, name: string): string {
  const text = (query.one(name) ?? "").trim();
  if (text.length > LIMIT.searchLength)
    throw new Fault("invalid", `${name} is longer than ${LIMIT.searchLength} characters`);
  return text;
}

function wholeNumber(
  query: Query,
  name: string,
  rules: { readonly fallback: number; readonly minimum: number; readonly maximum: number },
): number {
  const text = query.one(name) ?? "";
  if (text === "") return rules.fallback;
  const value = /^[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= rules.minimum && value <= rules.maximum) return value;
  throw new Fault("invalid", `${name} must be a whole number from ${rules.minimum} to ${rules.maximum}`);
}

/** A value that rows are sorted by; undefined: there is none, which comes last in either order. */
export type SortKey = string | number | undefined;

/** Rows in the order of their keys; rows with the same key in the order of their names, so that pages never overlap. */
export function sortRows<Row>(
  rows: Iterable<Row>,
  keyOf: (row: Row) => SortKey,
  { nameOf, isDescending }: { readonly nameOf: (row: Row) => string; readonly isDescending: boolean },
): Row[] {
  const keyed = Array.from(rows, (row) => ({ row, key: keyOf(row), name: nameOf(row) }));
  const direction = isDescending ? -1 : 1;
  keyed.sort((a, b) => compareKeys(a.key, b.key, direction) || compare(a.name, b.name));
  return keyed.map(({ row }) => row);
}

function compareKeys(a: SortKey, b: SortKey, direction: 1 | -1): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  return direction * compare(a, b);
}

function compare(a: string | number, b: string | number): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** What stands behind the `?` of an address. */
export interface Query {
  /** The one value of a parameter; undefined: not given. Throws a Fault when it is given twice. */
  readonly one: (name: string) => string | undefined;
  /** Every value of a parameter that may be repeated. */
  readonly all: (name: string) => readonly string[];
  /** True where one of these is given. */
  readonly hasAny: (names: readonly string[]) => boolean;
}

const EMPTY: Query = { one: () => undefined, all: () => [], hasAny: () => false };

export function readQuery(text: string): Query {
  if (text === "") return EMPTY;
  const parameters = new URLSearchParams(text);
  return {
    one: (name) => {
      const values = parameters.getAll(name);
      if (values.length > 1)
        throw new Fault("invalid", `${name} is given ${values.length} times; give it once`);
      return values[0];
    },
    all: (name) => parameters.getAll(name),
    hasAny: (names) => names.some((name) => parameters.has(name)),
  };
}

/** Which part of a long list is asked for. */
export interface Page {
  readonly limit: number;
  /** Go on behind this one; "": from the start. */
  readonly after: string;
}

export function readPage(query: Query): Page {
  const limit = query.one("limit");
  const after = query.one("after") ?? "";
  if (after.length > LIMIT.afterLength) throw new Fault("invalid", "after is no name from an earlier page");
  return { limit: limit === undefined ? LIMIT.pageDefault : readLimit(limit), after };
}

function readLimit(text: string): number {
  const limit = /^[0-9]{1,4}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= LIMIT.pageMax) return limit;
  throw new Fault("invalid", `limit must be a whole number from 1 to ${LIMIT.pageMax}`);
}

/** Accepts `true` or `false` only. */
export function readSwitch(query: Query, name: string): boolean {
  const text = query.one(name);
  if (text === undefined || text === "false") return false;
  if (text === "true") return true;
  throw new Fault("invalid", `${name} must be true or false`);
}

/**
 * The first `limit` names behind `after`, in order, out of names in any order. Walks them once and sorts only what it
 * keeps: a page of a long list must not cost sorting the list.
 */
export function firstAfter(names: Iterable<string>, after: string, limit: number): string[] {
  const kept: string[] = [];
  for (const name of names) {
    if (name <= after) continue;
    const last = kept.length < limit ? undefined : kept[limit - 1];
    if (last !== undefined && name >= last) continue;
    kept.splice(insertionIndex(name, kept), 0, name);
    if (kept.length > limit) kept.pop();
  }
  return kept;
}

function insertionIndex(name: string, sorted: readonly string[]): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? "") < name) low = middle + 1;
    else high = middle;
  }
  return low;
}
