import { Fault } from "@resource-broker/base";

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;
const MAX_OFFSET = 10_000_000;
/** The broker keeps the newest decisions only. */
const MAX_DECISION_OFFSET = 1000;
const MAX_TEXT_LENGTH = 256;

/** What stands behind the `?`. */
export type Parameters = URLSearchParams;

/** Which rows are wanted, in which order; what each list filters by comes on top. */
export interface ListQuery<Sort extends string> {
  readonly sort: Sort;
  readonly isDescending: boolean;
  /** In lower case; "": everything. */
  readonly text: string;
  readonly offset: number;
  readonly limit: number;
}

export interface ListRules<Sort extends string> {
  readonly sorts: readonly Sort[];
  readonly defaultSort: Sort;
  readonly defaultOrder: "asc" | "desc";
}

export function readListQuery<Sort extends string>(
  parameters: Parameters,
  { sorts, defaultSort, defaultOrder }: ListRules<Sort>,
): ListQuery<Sort> {
  return {
    sort: oneOf(parameters, "sort", sorts) ?? defaultSort,
    isDescending: (oneOf(parameters, "order", ["asc", "desc"]) ?? defaultOrder) === "desc",
    text: textOf(parameters, "q").toLowerCase(),
    offset: wholeNumber(parameters, "offset", { fallback: 0, minimum: 0, maximum: MAX_OFFSET }),
    limit: limitOf(parameters),
  };
}

export interface DecisionQuery {
  readonly outcome: "granted" | "refused" | undefined;
  readonly requester: string;
  readonly offset: number;
  readonly limit: number;
}

export function readDecisionQuery(parameters: Parameters): DecisionQuery {
  return {
    outcome: oneOf(parameters, "outcome", ["granted", "refused"]),
    requester: textOf(parameters, "requester"),
    offset: wholeNumber(parameters, "offset", { fallback: 0, minimum: 0, maximum: MAX_DECISION_OFFSET }),
    limit: limitOf(parameters),
  };
}

export function limitOf(parameters: Parameters): number {
  return wholeNumber(parameters, "limit", { fallback: DEFAULT_LIMIT, minimum: 1, maximum: MAX_LIMIT });
}

/** One of a closed list of words; undefined: not given, or given as nothing. */
export function oneOf<T extends string>(
  parameters: Parameters,
  name: string,
  choices: readonly T[],
): T | undefined {
  const text = parameters.get(name) ?? "";
  if (text === "") return undefined;
  const choice = choices.find((each) => each === text);
  if (choice === undefined) throw new Fault("invalid", `${name} must be one of ${choices.join(", ")}`);
  return choice;
}

export function textOf(parameters: Parameters, name: string): string {
  const text = (parameters.get(name) ?? "").trim();
  if (text.length > MAX_TEXT_LENGTH)
    throw new Fault("invalid", `${name} is longer than ${MAX_TEXT_LENGTH} characters`);
  return text;
}

export interface NumberRules {
  readonly fallback: number;
  readonly minimum: number;
  readonly maximum: number;
}

export function wholeNumber(parameters: Parameters, name: string, rules: NumberRules): number {
  const text = parameters.get(name) ?? "";
  if (text === "") return rules.fallback;
  const value = /^[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= rules.minimum && value <= rules.maximum) return value;
  throw new Fault("invalid", `${name} must be a whole number from ${rules.minimum} to ${rules.maximum}`);
}

/** A value that rows are sorted by; null: there is none, which comes last in either order. */
export type SortKey = string | number | null;

/** Rows in the order of their keys; rows with the same key in the order of their names, so that pages never overlap. */
export function sortRows<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => SortKey,
  { nameOf, isDescending }: { readonly nameOf: (row: Row) => string; readonly isDescending: boolean },
): Row[] {
  const keyed = rows.map((row) => ({ row, key: keyOf(row), name: nameOf(row) }));
  const direction = isDescending ? -1 : 1;
  keyed.sort((a, b) => compareKeys(a.key, b.key, direction) || compare(a.name, b.name));
  return keyed.map(({ row }) => row);
}

function compareKeys(a: SortKey, b: SortKey, direction: 1 | -1): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return direction * compare(a, b);
}

function compare(a: string | number, b: string | number): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
