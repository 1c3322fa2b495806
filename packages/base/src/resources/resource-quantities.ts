import { type AmountOptions, type AmountResult, parseAmount } from "../quantity/amount.ts";
import { parseQuantity } from "../quantity/quantity.ts";
import { quoted } from "../quantity/quantity-problem.ts";
import {
  amountForm,
  FIELD_RESOURCES,
  type FieldName,
  MAIN_NAMES,
  type MainName,
  NAMED_RESOURCES,
} from "./resource-table.ts";
import { emptyVector, isZero, type ResourceVector, resourceVector } from "./resource-vector.ts";

const MAX_PREFIX_LENGTH = 253;
const MAX_NAME_LENGTH = 63;
const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
/** Resources with a field of their own, by that name and by their name in Kubernetes. */
const FIELD_BY_NAME: ReadonlyMap<string, string> = new Map(
  FIELD_RESOURCES.flatMap(({ name, kubernetesName }) => [
    [name, name],
    [kubernetesName ?? name, name],
  ]),
);

/** Amounts by resource; what has no field of its own is in `extended`, by its Kubernetes name. */
export type AmountFields<T> = Readonly<Partial<Record<FieldName, T>>> & {
  readonly extended?: Readonly<Record<string, T>>;
};

/** A set of amounts as it arrives: Kubernetes quantities, each a string or a JSON number. */
export type ResourceQuantities = AmountFields<string | number> & Readonly<Record<MainName, string | number>>;

/** A set of amounts as it is sent: canonical Kubernetes quantities. */
export type FormattedResources = AmountFields<string> & Readonly<Record<MainName, string>>;

export interface ResourceProblem {
  /** Where in the set: `cpu`, `extended[amd.com/gpu]`. */
  readonly field: string;
  readonly problem: string;
}

export type ResourcesResult =
  | { readonly ok: true; readonly resources: ResourceVector }
  | { readonly ok: false; readonly problems: readonly ResourceProblem[] };

/** More than any node has; bounds the work and the error list for untrusted input. */
export const MAX_EXTENDED_RESOURCES = 32;
const SHOWN_NAME_LENGTH = 80;
const MISSING = 'is missing. Write for example "500m" or "8Gi".';

/** The vector of a set of amounts. `read` turns each amount that is stated into the ledger's units. */
export function vectorFrom<T>(
  amounts: AmountFields<T>,
  read: (amount: T, name: string, isField: boolean) => number,
): ResourceVector {
  const slots = emptyVector();
  for (const { name, slot } of FIELD_RESOURCES) {
    const amount = amounts[name];
    if (amount !== undefined) slots[slot] = read(amount, name, true);
  }
  // fromEntries defines keys as data, whatever they are called.
  const extended = Object.fromEntries(
    Object.entries(amounts.extended ?? {}).map(([name, amount]) => [name, read(amount, name, false)]),
  );
  return resourceVector({ ...slots, extended });
}

/** Round capacity `down` and what is taken from it `up`, so that no fraction of a unit is lent twice. */
export function parseResources(
  input: ResourceQuantities,
  rounding: AmountOptions["rounding"],
): ResourcesResult {
  const problems: ResourceProblem[] = [];
  for (const name of MAIN_NAMES) {
    if (input[name] === undefined) problems.push({ field: name, problem: MISSING });
  }
  const named = Object.keys(input.extended ?? {});
  if (named.length > MAX_EXTENDED_RESOURCES) {
    const problem = `names ${named.length} resources: at most ${MAX_EXTENDED_RESOURCES} are allowed.`;
    return { ok: false, problems: [...problems, { field: "extended", problem }] };
  }
  const resources = vectorFrom<unknown>(input, (value, name, isField) => {
    const nameProblem = isField ? undefined : extendedNameProblem(name);
    const parsed =
      nameProblem === undefined
        ? parseCapacity(value, { unit: amountForm(name).unit, rounding })
        : refused(nameProblem);
    if (parsed.ok) return parsed.amount;
    const field = isField ? name : `extended[${name.slice(0, SHOWN_NAME_LENGTH)}]`;
    problems.push({ field, problem: parsed.problem });
    return 0;
  });
  return problems.length > 0 ? { ok: false, problems } : { ok: true, resources };
}

/** What a requester asks for: rounded up, so that it never gets less, and never nothing at all. */
export function parseRequest(input: ResourceQuantities): ResourcesResult {
  const parsed = parseResources(input, "up");
  if (!parsed.ok || !isZero(parsed.resources)) return parsed;
  const problem = 'asks for nothing: at least one amount must be more than 0, for example cpu "500m".';
  return { ok: false, problems: [{ field: "cpu", problem }] };
}

function parseCapacity(value: unknown, options: AmountOptions): AmountResult {
  const text = typeof value === "number" ? String(value) : value;
  if (text === null) return refused(MISSING);
  if (typeof text !== "string") return refused('must be text or a number, for example "500m" or "8Gi".');
  if (isNegative(text)) return refused(`${quoted(text)} must not be negative.`);
  return parseAmount(text, options);
}

/** Asked before rounding, which could turn a small negative amount into zero. */
function isNegative(text: string): boolean {
  if (!text.startsWith("-")) return false;
  const parsed = parseQuantity(text);
  return parsed.ok && parsed.quantity.digits < 0n;
}

function refused(problem: string): AmountResult {
  return { ok: false, problem };
}

/** Amounts as Kubernetes prints them. CPU and memory are always stated, the others where there are any. */
export function formatResources(vector: ResourceVector): FormattedResources {
  return { cpu: "0", memory: "0", ...formatSome(vector) };
}

/** The same without what is zero. */
export function formatSome(vector: ResourceVector): AmountFields<string> {
  const fields: Partial<Record<FieldName, string>> = {};
  for (const { name, slot, form } of FIELD_RESOURCES) {
    if (vector[slot] !== 0) fields[name] = form.format(vector[slot]);
  }
  const extended = Object.entries(vector.extended).filter(([, amount]) => amount !== 0);
  if (extended.length === 0) return fields;
  const formatted = extended.map(([name, amount]) => [name, amountForm(name).format(amount)] as const);
  return { ...fields, extended: Object.fromEntries(formatted) };
}

/** What is wrong with a key of `extended`; undefined: it is a known resource or a Kubernetes name such as `amd.com/gpu`. */
function extendedNameProblem(key: string): string | undefined {
  const field = FIELD_BY_NAME.get(key);
  if (field !== undefined) return `has a field of its own: write it as "${field}".`;
  // Lengths first: the patterns then only ever see short texts.
  if (key.length > MAX_PREFIX_LENGTH + 1 + MAX_NAME_LENGTH) return "the name of the resource is too long.";
  if (isQualifiedName(key) || NAMED_RESOURCES.some(({ name }) => name === key)) return undefined;
  return 'is not the name of an extended resource: write a domain and a name, for example "amd.com/gpu".';
}

function isQualifiedName(key: string): boolean {
  const slash = key.indexOf("/");
  const prefix = key.slice(0, Math.max(0, slash));
  const name = key.slice(slash + 1);
  if (prefix.length > MAX_PREFIX_LENGTH || name.length > MAX_NAME_LENGTH) return false;
  return DNS_SUBDOMAIN.test(prefix) && NAME.test(name);
}
