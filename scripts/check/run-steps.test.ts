import { describe, expect, it } from "vitest";
import { runSteps, STEPS } from "./run-steps.ts";

async function runWith(failing: string | undefined) {
  const executed: string[] = [];
  const printed: string[] = [];
  let clockMs = 0;
  const code = await runSteps(STEPS, {
    execute: (script) => {
      executed.push(script);
      clockMs += 1_500;
      return Promise.resolve(
        script === failing ? { code: 3, output: "what is wrong\n" } : { code: 0, output: "noise" },
      );
    },
    print: (line) => printed.push(line),
    nowMs: () => clockMs,
  });
  return { code, executed, printed };
}

describe("npm run check", () => {
  it("runs every step and prints one line with its time for each", async () => {
    const { code, executed, printed } = await runWith(undefined);
    expect(code).toBe(0);
    expect(executed).toEqual(STEPS.map((step) => `check:${step}`));
    expect(printed).toEqual(STEPS.map((step) => `✓ ${step.padEnd(10)}1.5 s`));
  });

  it("stops at the first failure, shows its output and the command to run it again", async () => {
    const { code, executed, printed } = await runWith("check:lint");
    expect(code).toBe(3);
    expect(executed.at(-1)).toBe("check:lint");
    expect(printed.slice(-2)).toEqual([
      "✗ lint      1.5 s",
      `what is wrong\n\nThe step "lint" failed. To run it alone: npm run check:lint`,
    ]);
  });

  it("names the command that mends the files when the format is wrong", async () => {
    const { printed } = await runWith("check:format");
    expect(printed.at(-1)).toContain("npm run format");
  });
});
