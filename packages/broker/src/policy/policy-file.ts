import { dirname } from "node:path";
import { DEFAULT_SLICE, describeProblems, parsePolicy, type SliceDefaults } from "@resource-broker/contract";
import { DEFAULT_POLICY, type Policy } from "@resource-broker/domain";
import { type Log, type MachineTime, watchFolder } from "@resource-broker/runtime";

const SETTLE_MS = 200;
const POLL_MS = 10_000;

export interface LoadedPolicy {
  readonly policy: Policy;
  readonly sliceDefaults: SliceDefaults;
}

export interface PolicyFileDeps {
  readonly read: (path: string) => Promise<unknown>;
  readonly machine: Pick<MachineTime, "after">;
  readonly log: Log;
}

export const BUILT_IN_POLICY: LoadedPolicy = { policy: DEFAULT_POLICY, sliceDefaults: DEFAULT_SLICE };

/** Reads the file once; throws with everything that is wrong with it. */
export async function loadPolicy(path: string, read: PolicyFileDeps["read"]): Promise<LoadedPolicy> {
  const content = await read(path);
  const result = parsePolicy(content, versionOf(content));
  if (!result.ok) throw new Error(`policy ${path}: ${describeProblems(result.problems)}`);
  return { policy: result.policy, sliceDefaults: result.sliceDefaults };
}

export interface PolicyFollowing {
  readonly path: string;
  /** What was loaded last. */
  readonly inForce: LoadedPolicy;
}

/** Follows the file: a whole new policy is handed over, a broken one is reported and the old one stays. */
export function followPolicy(
  { path, inForce }: PolicyFollowing,
  { machine, log, read }: PolicyFileDeps,
  onChange: (loaded: LoadedPolicy) => void,
): () => void {
  let current = JSON.stringify(inForce);
  let complaint = "";
  const look = async (): Promise<void> => {
    try {
      const loaded = await loadPolicy(path, read);
      complaint = "";
      const text = JSON.stringify(loaded);
      if (text === current) return;
      current = text;
      onChange(loaded);
      log.info({ path, version: loaded.policy.version }, "policy reloaded");
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      if (problem !== complaint)
        log.warn({ path, problem }, "policy not reloaded; the old one stays in force");
      complaint = problem;
    }
  };
  return watchFolder({
    folder: dirname(path),
    machine,
    settleMs: SETTLE_MS,
    pollMs: POLL_MS,
    look: () => void look(),
  });
}

/** A policy that does not name itself is named after its content: 8 hex digits that change with it. */
function versionOf(content: unknown): string {
  let hash = 0x811c9dc5;
  for (const letter of JSON.stringify(content) ?? "")
    hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
