import { dirname } from "node:path";
import type { Clock, Log } from "@resource-broker/base";
import { type ReportReload, watchFolder } from "@resource-broker/runtime";
import { type LoadedPolicy, readPolicy } from "./loaded-policy.ts";

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
