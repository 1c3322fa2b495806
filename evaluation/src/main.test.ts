import { execFile } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

interface End {
  readonly code: number;
  readonly out: string;
  readonly problems: string;
}

function evaluate(...args: readonly string[]): Promise<End> {
  return new Promise((resolve) => {
    execFile(process.execPath, [join(import.meta.dirname, "main.ts"), ...args], (error, out, problems) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, out, problems });
    });
  });
}

test("help names every flag", async () => {
  const { code, out } = await evaluate("--help");
  expect(code).toBe(0);
  for (const flag of ["smoke", "quick", "only", "out", "resume", "seed", "baseline", "anyway", "summary"])
    expect(out).toContain(`--${flag}`);
});

test("a run to resume that is not there ends with 2 and a sentence, not with a trace", async () => {
  const { code, problems } = await evaluate("--resume", "--out", "/nowhere");
  expect(code).toBe(2);
  expect(problems).toContain("no run to go on with");
  expect(problems).not.toContain("    at ");
});
