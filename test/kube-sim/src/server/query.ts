import type { DeleteOptions, ListQuery, PatchOptions, WriteOptions } from "../api/cluster-api.ts";
import { badRequest } from "../api/statuses.ts";

/** Parameters are read strictly: a misspelt selector must not become an unfiltered answer. */

const COMMON = ["pretty", "timeout"];
const READ = [...COMMON, "resourceVersion", "includeObject"];
const LIST = [
  ...READ,
  "allowWatchBookmarks",
  "continue",
  "fieldSelector",
  "labelSelector",
  "limit",
  "resourceVersionMatch",
  "sendInitialEvents",
  "timeoutSeconds",
  "watch",
];
const WRITE = [...COMMON, "dryRun", "fieldManager", "fieldValidation", "includeObject"];
const DELETE = [
  ...COMMON,
  "dryRun",
  "gracePeriodSeconds",
  "orphanDependents",
  "propagationPolicy",
  "includeObject",
  "ignoreStoreReadErrorWithClusterBreakingPotential",
];

const KNOWN = {
  get: new Set(READ),
  list: new Set(LIST),
  write: new Set(WRITE),
  patch: new Set([...WRITE, "force"]),
  delete: new Set(DELETE),
  "delete-collection": new Set([...LIST, ...DELETE]),
} as const;

export function checkNames(query: URLSearchParams, action: keyof typeof KNOWN): void {
  for (const name of query.keys()) {
    if (!KNOWN[action].has(name)) throw badRequest(`unknown query parameter "${name}"`);
  }
}

export function flagIn(query: URLSearchParams, name: string): boolean {
  const text = query.get(name);
  if (text === null || text === "0" || text === "false") return false;
  if (text === "" || text === "1" || text === "true") return true;
  throw badRequest(`invalid value "${text}" for query parameter "${name}": must be true or false`);
}

export function countIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === "") return undefined;
  if (!/^\d{1,15}$/u.test(text))
    throw badRequest(`invalid value "${text}" for query parameter "${name}": must be a whole number`);
  return Number(text);
}

function oneOf<T extends string>(query: URLSearchParams, name: string, values: readonly T[]): T | undefined {
  const text = query.get(name);
  if (text === null || text === "") return undefined;
  const found = values.find((value) => value === text);
  if (found === undefined)
    throw badRequest(
      `invalid value "${text}" for query parameter "${name}": must be one of ${values.join(", ")}`,
    );
  return found;
}

export function listQuery(query: URLSearchParams): ListQuery {
  const limit = countIn(query, "limit");
  const match = oneOf(query, "resourceVersionMatch", ["Exact", "NotOlderThan"]);
  if (match === "Exact")
    throw badRequest("resourceVersionMatch Exact is not supported here; use NotOlderThan");
  return {
    ...textsIn(query, ["labelSelector", "fieldSelector", "continue", "resourceVersion"]),
    ...(limit === undefined || limit === 0 ? {} : { limit }),
  };
}

function textsIn<T extends string>(
  query: URLSearchParams,
  names: readonly T[],
): { readonly [name in T]?: string } {
  const found: { [name in T]?: string } = {};
  for (const name of names) {
    const text = query.get(name);
    if (text !== null && text !== "") found[name] = text;
  }
  return found;
}

export function selectionIn(query: URLSearchParams): {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
} {
  return textsIn(query, ["labelSelector", "fieldSelector"]);
}

export function isDryRun(query: URLSearchParams): boolean {
  return oneOf(query, "dryRun", ["All"]) === "All";
}

export function writeOptions(query: URLSearchParams, userAgent: string): WriteOptions {
  return {
    dryRun: isDryRun(query),
    fieldManager: query.get("fieldManager") ?? managerOf(userAgent),
    fieldValidation: oneOf(query, "fieldValidation", ["Ignore", "Warn", "Strict"]) ?? "Warn",
  };
}

export function patchOptions(query: URLSearchParams, userAgent: string): PatchOptions {
  return { ...writeOptions(query, userAgent), force: flagIn(query, "force") };
}

/** Who does not name itself is known by the program it uses: `kubectl/v1.32` → `kubectl`. */
function managerOf(userAgent: string): string {
  return userAgent.split("/")[0] || "unknown";
}

const PROPAGATIONS = ["Background", "Foreground", "Orphan"] as const;

export function propagationIn(query: URLSearchParams): DeleteOptions["propagation"] | undefined {
  if (query.get("orphanDependents") !== null)
    return flagIn(query, "orphanDependents") ? "Orphan" : "Background";
  return oneOf(query, "propagationPolicy", PROPAGATIONS);
}

export function propagationOf(text: string): DeleteOptions["propagation"] {
  const found = PROPAGATIONS.find((value) => value === text);
  if (found === undefined)
    throw badRequest(`invalid propagationPolicy "${text}": must be one of ${PROPAGATIONS.join(", ")}`);
  return found;
}

export type IncludeObject = "None" | "Metadata" | "Object";

export function includeObjectIn(query: URLSearchParams): IncludeObject {
  return oneOf(query, "includeObject", ["None", "Metadata", "Object"]) ?? "Metadata";
}
