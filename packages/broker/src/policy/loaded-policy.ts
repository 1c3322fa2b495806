import { DEFAULT_SLICE, describeProblems, parsePolicy, type SliceDefaults } from "@resource-broker/contract";
import { DEFAULT_POLICY, type Policy } from "@resource-broker/domain";

export interface LoadedPolicy {
  readonly policy: Policy;
  readonly sliceDefaults: SliceDefaults;
}

/** A policy and where it is written, for people: a path, or `BrokerPolicy default/default`. */
export interface SourcedPolicy extends LoadedPolicy {
  readonly source: string;
}

export type PolicyReading =
  | { readonly ok: true; readonly loaded: LoadedPolicy }
  /** Everything that is wrong, in one line. */
  | { readonly ok: false; readonly problem: string };

export const BUILT_IN_POLICY: LoadedPolicy = { policy: DEFAULT_POLICY, sliceDefaults: DEFAULT_SLICE };

/** Reads what a policy file says, or the spec of a BrokerPolicy: the same text is the same policy in either. */
export function readPolicy(content: unknown): PolicyReading {
  const result = parsePolicy(content, versionOf(content));
  if (!result.ok) return { ok: false, problem: describeProblems(result.problems) };
  return { ok: true, loaded: { policy: result.policy, sliceDefaults: result.sliceDefaults } };
}

/** A policy without a version gets one from its content: 8 hex digits of a hash. */
function versionOf(content: unknown): string {
  let hash = 0x811c9dc5;
  for (const character of JSON.stringify(sorted(content)) ?? "")
    hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}

/** The API server keeps no order of fields, so it must not matter. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([name, field]) => [name, sorted(field)]));
}
