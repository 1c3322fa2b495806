import { safeLine } from "@resource-broker/contract";

/** A readiness check; advisory checks are only shown. */
export interface ReadinessCheck {
  /** Name for `?exclude=<name>`. */
  readonly name: string;
  /** True: a problem is shown with `?verbose`, and the program stays ready. */
  readonly isAdvisory?: boolean;
  /** What is wrong; undefined: nothing. */
  readonly problem: () => string | undefined;
}

export interface ReadinessOptions {
  /** Names every check, not only those that fail. */
  readonly isVerbose: boolean;
  /** Names of checks that do not count. */
  readonly excluded: readonly string[];
}

export interface ReadinessReport {
  readonly isReady: boolean;
  readonly content: string;
}

/** `ok`, or what is wrong. */
export function readinessReport(
  checks: readonly ReadinessCheck[],
  { isVerbose, excluded }: ReadinessOptions,
): ReadinessReport {
  const results = checks.map(({ name, problem, isAdvisory = false }) => {
    const isExcluded = excluded.includes(name);
    return { name, isAdvisory, isExcluded, problem: isExcluded ? undefined : problem() };
  });
  const failed = results.filter(({ problem, isAdvisory }) => problem !== undefined && !isAdvisory);
  const isReady = failed.length === 0;
  const shown = isVerbose ? results : failed;
  const lines = shown.map(({ name, isAdvisory, isExcluded, problem }) =>
    problem === undefined
      ? `[+] ${name} ${isExcluded ? "excluded" : "ok"}`
      : `[${isAdvisory ? "!" : "-"}] ${name}: ${safeLine(problem)}`,
  );
  return { isReady, content: [...lines, isReady ? "ok" : "not ready"].join("\n") };
}

/** What is wrong with the names of checks that a caller leaves out; undefined: nothing. */
export function exclusionProblem(
  checks: readonly ReadinessCheck[],
  excluded: readonly string[],
): string | undefined {
  const names = checks.map(({ name }) => name);
  const unknown = excluded.filter((name) => !names.includes(name));
  if (unknown.length === 0) return undefined;
  return `exclude: there is no check ${unknown.map((name) => JSON.stringify(name)).join(", ")}; there are ${names.join(", ")}`;
}
