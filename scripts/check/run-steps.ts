export interface StepResult {
  readonly code: number;
  /** What the step printed and the user has not seen yet. */
  readonly output: string;
}

export interface StepDeps {
  /** Runs the npm script of that name. */
  readonly execute: (script: string) => Promise<StepResult>;
  readonly print: (line: string) => void;
  readonly nowMs: () => number;
}

/** In the order of a developer's patience: the quick ones first. */
export const STEPS = ["format", "types", "lint", "layers", "knip", "generated", "docs", "tests"] as const;

/** Runs the steps one after the other and stops at the first that fails. Returns the exit code. */
export async function runSteps(
  steps: readonly string[],
  { execute, print, nowMs }: StepDeps,
): Promise<number> {
  for (const step of steps) {
    const startedMs = nowMs();
    const { code, output } = await execute(`check:${step}`);
    const seconds = ((nowMs() - startedMs) / 1000).toFixed(1);
    print(`${code === 0 ? "✓" : "✗"} ${step.padEnd(10)}${seconds} s`);
    if (code !== 0) {
      print(`${output.trimEnd()}\n\nThe step "${step}" failed. To run it alone: npm run check:${step}`);
      if (step === "format") print("To format everything: npm run format");
      if (step === "generated") print("To write the generated files anew: npm run generate");
      return code;
    }
  }
  return 0;
}
