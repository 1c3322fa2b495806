/** One thing that must be well before calls are sent here. */
export interface ReadinessCheck {
  readonly name: string;
  /** What is wrong; undefined: nothing. */
  readonly problem: () => string | undefined;
}

export interface ReadinessReport {
  readonly isReady: boolean;
  readonly content: string;
}

/** `ok`, or what is wrong; verbose names every check. */
export function readinessReport(checks: readonly ReadinessCheck[], isVerbose: boolean): ReadinessReport {
  const results = checks.map(({ name, problem }) => ({ name, problem: problem() }));
  const failed = results.filter(({ problem }) => problem !== undefined);
  const isReady = failed.length === 0;
  const shown = isVerbose ? results : failed;
  const lines = shown.map(({ name, problem }) =>
    problem === undefined ? `[+] ${name} ok` : `[-] ${name}: ${problem}`,
  );
  return { isReady, content: [...lines, isReady ? "ok" : "not ready"].join("\n") };
}
