import { spawn } from "node:child_process";
import { join } from "node:path";
import type { Check } from "./mutant.ts";

/** Only a guard: a broken program may hang. */
const TIMEOUT_MS = 240_000;

export interface Outcome {
  readonly hasPassed: boolean;
  /** What was noticed, in a line. */
  readonly message: string;
}

export interface Where {
  readonly tree: string;
  /** The environment of this program. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Runs one check in a tree. It fails when it ends badly, and also when it does not end. */
export async function runCheck(check: Check, { tree, env }: Where): Promise<Outcome> {
  const { code, output } = await run(commandFor(check), { tree, env });
  return { hasPassed: code === 0, message: code === 0 ? "" : firstError(output) };
}

function commandFor(check: Check): string[] {
  if (check.kind === "simulation")
    return ["test/campaigns/simulation/main.ts", `--seeds=${check.seeds}`, "--ops=100"];
  if (check.kind === "campaign")
    return [
      "test/campaigns/broker/main.ts",
      `--store=${check.store}`,
      `--kills=${check.strikes}`,
      "--seed=1",
    ];
  return ["node_modules/vitest/vitest.mjs", "run", check.file, "--bail=1", "--retry=0"];
}

function run(
  args: readonly string[],
  { tree, env }: Where,
): Promise<{ readonly code: number; readonly output: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, {
      cwd: tree,
      // A group of its own: what a test has started ends with it.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...env,
        NO_COLOR: "1",
        NODE_COMPILE_CACHE: join(tree, "node_modules/.cache/compiled"),
        PATH: `${join(tree, "node_modules/.bin")}:${env["PATH"]}`,
      },
    });
    let output = "";
    const timer = setTimeout(() => {
      output += "\nError: it does not end";
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    }, TIMEOUT_MS);
    const read = (chunk: Buffer): void => {
      output += chunk.toString("utf8");
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("close", (code) => {
      clearTimeout(timer);
      resolve({ code: code ?? 1, output });
    });
  });
}

function firstError(output: string): string {
  const lines = output.split("\n").map((line) => line.trim());
  const isComplaint = (line: string): boolean => /^(VIOLATION|AssertionError|\w*Error\b|Error:)/.test(line);
  const failed = lines
    .find((line) => line.startsWith("FAIL"))
    ?.split(" > ")
    .at(-1);
  return failed ?? lines.find(isComplaint)?.replace(/^VIOLATION: (in )?/, "") ?? lines.at(-1) ?? "";
}
