import { type AmountOptions, type AmountResult, parseAmount } from "../quantity/amount.ts";
import { formatBytes, formatCount, formatCpu } from "../quantity/format-amount.ts";
import { parseQuantity } from "../quantity/quantity.ts";
import { quoted } from "../quantity/quantity-problem.ts";
import { isZero, type ResourceVector, resourceVector } from "./resource-vector.ts";

const MAX_PREFIX_LENGTH = 253;
const MAX_NAME_LENGTH = 63;
const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
/** The one family of resources without a domain that nodes offer beside CPU, memory and storage. */
const HUGE_PAGES = /^hugepages-[0-9]+[KMGTPE]i$/;
const FIELD_BY_NAME: ReadonlyMap<string, string> = new Map([
  ["cpu", "cpu"],
  ["memory", "memory"],
  ["gpu", "gpu"],
  ["storage", "storage"],
  ["ephemeral-storage", "storage"],
]);

/** A set of amounts as it arrives: Kubernetes quantities, each a string or a JSON number. */
export interface ResourceQuantities {
  readonly cpu: string | number;
  readonly memory: string | number;
  readonly gpu?: string | number;
  readonly storage?: string | number;
  readonly extended?: Readonly<Record<string, string | number>>;
}

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

/** Round capacity `down` and what is taken from it `up`, so that no fraction of a unit is lent twice. */
export function parseResources(
  input: ResourceQuantities,
  rounding: AmountOptions["rounding"],
): ResourcesResult {
  const problems: ResourceProblem[] = [];
  const read = (field: string, value: unknown, unit: AmountOptions["unit"]): number => {
    const parsed = parseCapacity(value, { unit, rounding });
    if (parsed.ok) return parsed.amount;
    problems.push({ field, problem: parsed.problem });
    return 0;
  };
  const amounts = {
    cpuMillis: read("cpu", input.cpu, "milli"),
    memoryBytes: read("memory", input.memory, "one"),
    gpus: read("gpu", input.gpu ?? 0, "one"),
    storageBytes: read("storage", input.storage ?? 0, "one"),
  };
  const named = Object.entries(input.extended ?? {});
  if (named.length > MAX_EXTENDED_RESOURCES) {
    const problem = `names ${named.length} resources: at most ${MAX_EXTENDED_RESOURCES} are allowed.`;
    return { ok: false, problems: [...problems, { field: "extended", problem }] };
  }
  const extended = named.map(([name, value]): [string, number] => {
    const field = `extended[${name.slice(0, SHOWN_NAME_LENGTH)}]`;
    const problem = extendedNameProblem(name);
    if (problem === undefined) return [name, read(field, value, "one")];
    problems.push({ field, problem });
    return [name, 0];
  });
  if (problems.length > 0) return { ok: false, problems };
  // fromEntries defines keys as data, whatever they are called.
  return { ok: true, resources: resourceVector({ ...amounts, extended: Object.fromEntries(extended) }) };
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
  if (text === undefined || text === null) return refused('is missing. Write for example "500m" or "8Gi".');
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

/** A set of amounts as it is sent: canonical Kubernetes quantities. */
export interface FormattedResources {
  readonly cpu: string;
  readonly memory: string;
  readonly gpu?: string;
  readonly storage?: string;
  readonly extended?: Readonly<Record<string, string>>;
}

/** CPU and memory are always written; of the others only what there is. */
export function formatResources(vector: ResourceVector): FormattedResources {
  const extended = Object.entries(vector.extended).filter(([, amount]) => amount !== 0);
  return {
    cpu: formatCpu(vector.cpuMillis),
    memory: formatBytes(vector.memoryBytes),
    ...(vector.gpus === 0 ? {} : { gpu: formatCount(vector.gpus) }),
    ...(vector.storageBytes === 0 ? {} : { storage: formatBytes(vector.storageBytes) }),
    ...(extended.length === 0
      ? {}
      : { extended: Object.fromEntries(extended.map(([name, amount]) => [name, formatCount(amount)])) }),
  };
}

/** What is wrong with a key of `extended`, or undefined when it is a Kubernetes name such as `amd.com/gpu`. */
function extendedNameProblem(key: string): string | undefined {
  const field = FIELD_BY_NAME.get(key);
  if (field !== undefined) return `has a field of its own: write it as "${field}".`;
  // Lengths first: the patterns then only ever see short texts.
  if (key.length > MAX_PREFIX_LENGTH + 1 + MAX_NAME_LENGTH) return "the name of the resource is too long.";
  if (isQualifiedName(key) || HUGE_PAGES.test(key)) return undefined;
  return 'is not the name of an extended resource: write a domain and a name, for example "amd.com/gpu".';
}

function isQualifiedName(key: string): boolean {
  const slash = key.indexOf("/");
  const prefix = key.slice(0, Math.max(0, slash));
  const name = key.slice(slash + 1);
  if (prefix.length > MAX_PREFIX_LENGTH || name.length > MAX_NAME_LENGTH) return false;
  return DNS_SUBDOMAIN.test(prefix) && NAME.test(name);
}
