import { dirname } from "node:path";
import type { Clock, Log } from "@resource-broker/base";
import { DEFAULT_SLICE, describeProblems, parsePolicy, type SliceDefaults } from "@resource-broker/contract";
import { DEFAULT_POLICY, type Policy } from "@resource-broker/domain";
import { type ReportReload, watchFolder } from "@resource-broker/runtime";

export interface LoadedPolicy {
  readonly policy: Policy;
  readonly sliceDefaults: SliceDefaults;
}

/** A policy and where it is written, for people: a path, or `BrokerPolicy default/default`. */
export interface SourcedPolicy extends LoadedPolicy {
  readonly source: string;
}

type PolicyReading =
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
interface PolicyInForce {
  readonly now: () => SourcedPolicy;
  readonly fromFile: (loaded: SourcedPolicy) => void;
  /** Undefined: there is no object to follow any more. */
  readonly fromObject: (loaded: SourcedPolicy | undefined) => void;
}

interface PolicyInForceDeps {
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

const SETTLE_MS = 200;
const POLL_MS = 10_000;

export interface PolicyFileDeps {
  readonly read: (path: string) => Promise<unknown>;
  readonly clock: Pick<Clock, "after">;
  readonly log: Log;
  /** Called with the problem of each failed reload, and with undefined after the next success. */
  readonly report: ReportReload;
}

/** Reads the file once; throws with everything that is wrong with it. */
export async function loadPolicy(path: string, read: PolicyFileDeps["read"]): Promise<LoadedPolicy> {
  const reading = readPolicy(await read(path));
  if (!reading.ok) throw new Error(`policy ${path}: ${reading.problem}`);
  return reading.loaded;
}

export interface PolicyFollowing {
  readonly path: string;
  /** What was loaded last. */
  readonly inForce: LoadedPolicy;
}

/** Follows the file: a whole new policy is handed over, a broken one is reported and the old one stays. */
export function followPolicy(
  { path, inForce }: PolicyFollowing,
  { clock, log, read, report }: PolicyFileDeps,
  onChange: (loaded: LoadedPolicy) => void,
): () => void {
  let current = JSON.stringify(inForce);
  let lastProblem = "";
  const reload = async (): Promise<void> => {
    try {
      const loaded = await loadPolicy(path, read);
      lastProblem = "";
      report(undefined);
      const text = JSON.stringify(loaded);
      if (text === current) return;
      current = text;
      onChange(loaded);
      log.info({ path, version: loaded.policy.version }, "policy reloaded");
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      report(problem);
      if (problem !== lastProblem)
        log.warn({ path, problem }, "policy not reloaded; the old one stays in force");
      lastProblem = problem;
    }
  };
  return watchFolder({
    folder: dirname(path),
    clock,
    debounceMs: SETTLE_MS,
    pollMs: POLL_MS,
    onChange: () => void reload(),
  });
}
