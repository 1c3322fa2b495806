import type { ReadinessCheck } from "./readiness.ts";

/** Tells what came of the last reload: the problem, or undefined when it worked. */
export type ReportReload = (problem: string | undefined) => void;

/** What is read again while the program runs, and whether the last reading worked. */
export interface Reloads {
  /** Adds a source, for example `certificates`. Several of one name count as one, which fails when any of them does. */
  readonly source: (name: string) => ReportReload;
  readonly statuses: () => readonly ReloadStatus[];
  /** Shown by `/readyz?verbose`. What was in force before stays in force, so nobody is sent elsewhere. */
  readonly check: ReadinessCheck;
}

export interface ReloadStatus {
  readonly source: string;
  /** Undefined: what is in force is what was found last. */
  readonly problem: string | undefined;
}

export function createReloads(): Reloads {
  const sources: { readonly name: string; problem: string | undefined }[] = [];
  const statuses = (): readonly ReloadStatus[] => {
    const problems = new Map<string, string | undefined>();
    for (const { name, problem } of sources) problems.set(name, problems.get(name) ?? problem);
    return [...problems].map(([source, problem]) => ({ source, problem }));
  };
  return {
    source: (name) => {
      const added = { name, problem: undefined as string | undefined };
      sources.push(added);
      return (problem) => {
        added.problem = problem;
      };
    },
    statuses,
    check: {
      name: "reloads",
      isAdvisory: true,
      problem: () => {
        const failed = statuses().filter(({ problem }) => problem !== undefined);
        if (failed.length === 0) return undefined;
        return failed.map(({ source, problem }) => `${source} not reloaded: ${problem}`).join("; ");
      },
    },
  };
}
