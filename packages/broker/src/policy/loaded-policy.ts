import type { Log } from "@resource-broker/base";
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

/** Which of several policies counts: a BrokerPolicy object before the file, the file before the built-in one. */
export interface PolicyInForce {
  readonly now: () => SourcedPolicy;
  readonly fromFile: (loaded: SourcedPolicy) => void;
  /** Undefined: there is no object to follow any more. */
  readonly fromObject: (loaded: SourcedPolicy | undefined) => void;
}

export interface PolicyInForceDeps {
  /** Called with each policy that comes into force. */
  readonly use: (loaded: LoadedPolicy) => void;
  readonly log: Log;
}

export function policyInForce({ use, log }: PolicyInForceDeps): PolicyInForce {
  let file: SourcedPolicy | undefined;
  let object: SourcedPolicy | undefined;
  let current: SourcedPolicy = { ...BUILT_IN_POLICY, source: "built in" };
  const settle = (): void => {
    const chosen = object ?? file ?? { ...BUILT_IN_POLICY, source: "built in" };
    if (JSON.stringify(chosen) === JSON.stringify(current)) return;
    current = chosen;
    use(chosen);
    log.info({ source: chosen.source, version: chosen.policy.version }, "another policy is in force");
  };
  /** Warns if both sources exist: edits of the policy file have no effect then. */
  const warnIfBoth = (): void => {
    if (file === undefined || object === undefined) return;
    log.warn(
      { inForce: object.source, ignored: file.source },
      "there are a policy file and a BrokerPolicy object: the object is in force, the file is not",
    );
  };
  return {
    now: () => current,
    fromFile: (loaded) => {
      const isFirst = file === undefined;
      file = loaded;
      if (isFirst) warnIfBoth();
      settle();
    },
    fromObject: (loaded) => {
      const isFirst = object === undefined;
      object = loaded;
      if (isFirst) warnIfBoth();
      settle();
    },
  };
}
