import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";

export const SETUP = resolve(import.meta.dirname, "../..");
export const SCRIPTS = join(SETUP, "scripts");

/** All of them, by name. */
export const NAMES = readdirSync(SCRIPTS).filter((name) => name.endsWith(".sh"));

export interface ScriptEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What it printed is the only hint at why it failed. */
export function expectDone({ code, stdout, stderr }: ScriptEnd): void {
  if (code !== 0) throw new Error(`exit code ${code}\n${stdout}\n${stderr}`);
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Runs a script as a person does, or with another environment. */
export async function runScript(
  name: string,
  flags: readonly string[],
  env: Environment = process.env,
): Promise<ScriptEnd> {
  const script = spawn("/bin/bash", [join(SCRIPTS, name), ...flags], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(script.stdout),
    text(script.stderr),
    once(script, "close") as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr };
}

/** Runs it as a person who presses Ctrl-C when its output matches. */
export async function interruptScript(
  name: string,
  flags: readonly string[],
  when: RegExp,
): Promise<ScriptEnd> {
  // A process group of its own, as a shell gives to each command.
  const script = spawn("/bin/bash", [join(SCRIPTS, name), ...flags], {
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  script.stdout.setEncoding("utf8").on("data", (part: string) => {
    const hasNewOutput = !when.test(stdout);
    stdout += part;
    if (hasNewOutput && when.test(stdout)) process.kill(-(script.pid ?? 0), "SIGINT");
  });
  const [stderr, [code]] = await Promise.all([
    text(script.stderr),
    once(script, "close") as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr };
}

/** A folder for the state of scripts. Whatever still runs there when it is disposed of ends. */
export interface StateFolder {
  readonly path: string;
  /** The command lines of running processes that name it. */
  readonly processes: () => string[];
  readonly isThere: () => boolean;
  readonly dispose: (on: "sim" | "real" | "kind" | "liqo") => Promise<void>;
}

export function stateFolder(): StateFolder {
  const parent = mkdtempSync(join(tmpdir(), "test setup "));
  const path = join(parent, "state");
  return {
    path,
    processes: () => processesIn(path),
    isThere: () => existsSync(path),
    dispose: async (on) => {
      await runScript("cleanup.sh", ["--on", on, "--state", path]);
      rmSync(parent, { recursive: true, force: true });
    },
  };
}

function processesIn(folder: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name))
    .map(commandLine)
    .filter((line) => line.includes(folder));
}

/** Empty for a process that has ended meanwhile. */
function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}
