import type { ReadinessCheck } from "./pages.ts";

/** Reports the result of a reload: the problem, or undefined on success. */
export type ReportReload = (problem: string | undefined) => void;

/** The sources that are reloaded at runtime, and the result of their last reload. */
export interface Reloads {
  /** Adds a source, for example `certificates`. Several of one name count as one, which fails when any of them does. */
  readonly source: (name: string) => ReportReload;
  readonly statuses: () => readonly ReloadStatus[];
  /** Shown by `/readyz?verbose`. Advisory, because the previous content stays in use. */
  readonly check: ReadinessCheck;
}

export interface ReloadStatus {
  readonly source: string;
  /** Undefined: the last reload succeeded. */
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
