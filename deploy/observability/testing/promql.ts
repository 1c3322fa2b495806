/** What an expression asks of one metric. */
export interface Selector {
  readonly metric: string;
  readonly matchers: readonly Matcher[];
}

export interface Matcher {
  readonly label: string;
  readonly operator: string;
  readonly value: string;
}

/** What an expression needs to be there. */
export interface Needs {
  readonly selectors: readonly Selector[];
  /** Named by `by`, `without`, `on`, `ignoring` and their like. */
  readonly labels: readonly string[];
  /** Metrics whose rise is asked for: they must be counters. */
  readonly rising: readonly string[];
}

const WITH_LABELS = new Set(["by", "without", "on", "ignoring", "group_left", "group_right"]);
const OPERATORS = new Set(["and", "or", "unless", "bool", "offset", "atan2"]);
const RISES = new Set(["rate", "irate", "increase"]);

/** A token is a text in quotes, a range in brackets, a number, a name, or one sign. */
const TOKEN = /"(?:[^"\\]|\\.)*"|\[[^\]]*\]|\d[\w.]*|[A-Za-z_:][\w:]*|[=!]~|[!=<>]=|\S/g;
const NAME = /^[A-Za-z_:]/;

/** Not a whole parser: promtool says whether an expression is one. This only finds the names in it. */
export function needsOf(expression: string): Needs {
  const needs = { selectors: [], labels: [], rising: [] };
  let rest: readonly string[] = expression.match(TOKEN) ?? [];
  while (rest.length > 0) rest = rest.slice(take(rest, needs));
  return needs;
}

interface Found {
  readonly selectors: Selector[];
  readonly labels: string[];
  readonly rising: string[];
}

/** Notes what the first name stands for. Returns how many tokens belong to it. */
function take([token = "", ...rest]: readonly string[], found: Found): number {
  if (!NAME.test(token) || OPERATORS.has(token)) return 1;
  const [next = ""] = rest;
  if (WITH_LABELS.has(token)) {
    const { inner, size } = enclosed(rest, "()");
    found.labels.push(...inner.filter((each) => each !== ","));
    return 1 + size;
  }
  // A function, or an aggregation that first says by what.
  if (next === "(" || WITH_LABELS.has(next)) {
    if (RISES.has(token)) found.rising.push(rest[1] ?? "");
    return 1;
  }
  const { inner, size } = enclosed(rest, "{}");
  found.selectors.push({ metric: token, matchers: matchersIn(inner) });
  return 1 + size;
}

/** What stands in the brackets that come first; nothing where none do. */
function enclosed(
  tokens: readonly string[],
  [opening, closing]: string,
): { readonly inner: readonly string[]; readonly size: number } {
  const end = tokens[0] === opening && closing !== undefined ? tokens.indexOf(closing) : -1;
  return { inner: tokens.slice(1, Math.max(1, end)), size: end + 1 };
}

function matchersIn(tokens: readonly string[]): Matcher[] {
  const matchers: Matcher[] = [];
  for (let at = 0; at + 2 < tokens.length; at += 4) {
    const [label = "", operator = "", value = ""] = tokens.slice(at, at + 3);
    matchers.push({ label, operator, value: value.slice(1, -1) });
  }
  return matchers;
}
