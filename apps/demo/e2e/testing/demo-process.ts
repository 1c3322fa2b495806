import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { until } from "@resource-broker/testkit";
import { onTestFinished } from "vitest";

const READY_WITHIN_MS = 90_000;
/** The program behind `npm start`. */
export const MAIN = join(import.meta.dirname, "../../src/main.ts");
/** Only a guard: processes start from their sources, beside other tests. */
export const TIMEOUT = { timeout: 180_000 };
export const run = promisify(execFile);

export function isInstalled(program: string, ...args: readonly string[]): Promise<boolean> {
  return run(program, [...args]).then(
    () => true,
    () => false,
  );
}

/** It is gone with the test. */
export async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "demo-test-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** What a person sees of `npm start`. */
export interface DemoProcess {
  readonly output: () => string;
  /** The commands to copy, as printed. */
  readonly commands: () => string[];
  readonly folder: () => string;
  readonly untilReady: () => Promise<void>;
  /** To all of its processes at once, as Ctrl-C in a terminal does. */
  readonly interrupt: () => void;
  /** To the first process alone. */
  readonly kill: () => void;
  readonly ended: Promise<{ readonly code: number | null }>;
}

export interface DemoCommand {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** It ends with the test. */
export function startDemo({ command, cwd, env }: DemoCommand): DemoProcess {
  const [program = "", ...flags] = command;
  // A process group of its own, as a shell gives to each command.
  const child = spawn(program, flags, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const ended = once(child, "close").then(([code]) => ({ code: code as number | null }));
  const signalAll = (signal: NodeJS.Signals): void => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid ?? 0), signal);
  };
  onTestFinished(() => signalAll("SIGKILL"));
  return {
    output: () => output,
    commands: () => [...output.matchAll(/^ {5}(\S.+)$/gm)].map(([, found = ""]) => found),
    folder: () => /^Files, logs included, are in (.+) and /m.exec(output)?.[1] ?? "",
    untilReady: async () => {
      const look = async (): Promise<true> => {
        if (output.includes("Ctrl-C ends everything.")) return true;
        throw new Error(output);
      };
      await until("the demo is ready", look, READY_WITHIN_MS);
    },
    interrupt: () => signalAll("SIGINT"),
    kill: () => void child.kill("SIGKILL"),
    ended,
  };
}

/** The command lines of all running processes that name the folder. */
export function processesIn(folder: string): string[] {
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
