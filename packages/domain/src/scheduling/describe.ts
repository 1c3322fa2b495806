import {
  amountOf,
  describeAmount,
  type ResourceName,
  type ResourceVector,
  resourceNames,
  resourceTitle,
} from "@resource-broker/base";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

export function describeAge(ms: number): string {
  if (ms < SECOND_MS) return `${Math.max(0, ms)}ms`;
  if (ms < 2 * MINUTE_MS) return `${Math.floor(ms / SECOND_MS)}s`;
  if (ms < 2 * HOUR_MS) return `${Math.floor(ms / MINUTE_MS)}m`;
  return `${Math.floor(ms / HOUR_MS)}h`;
}

/** "needs 3 more CPU", "offers no GPU": what is missing, resource by resource. */
export function describeShortage(
  missing: ResourceVector,
  allocatable: ResourceVector,
): { readonly message: string; readonly summary: string } {
  const names = resourceNames(missing);
  const lacking = names.filter((name) => amountOf(allocatable, name) === 0);
  const short = names.filter((name) => amountOf(allocatable, name) !== 0);
  const offersNone = lacking.length === 0 ? [] : [`offers no ${list(lacking.map(resourceTitle))}`];
  const needs = short.map((name) => describeMore(name, amountOf(missing, name)));
  return {
    message: [...offersNone, ...(needs.length === 0 ? [] : [`needs ${list(needs)}`])].join("; "),
    summary: `does not have enough ${list(names.map(resourceTitle))}`,
  };
}

/** "a", "a and b", "a, b and c". */
export function list(words: readonly string[]): string {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

/** At most four significant digits, without trailing zeros. */
export function describeNumber(value: number): string {
  return String(Number(value.toPrecision(4)));
}

/** "1.5 CPU" becomes "1.5 more CPU". */
function describeMore(name: ResourceName, amount: number): string {
  return describeAmount(name, amount).replace(" ", " more ");
}
