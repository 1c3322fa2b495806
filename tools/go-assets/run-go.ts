import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { constants, setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { buildProgress, type Progress } from "./progress.ts";

/** `go list` and `go build` must agree on these: they decide what Go's own cache can be used for. */
export const COMPILE_FLAGS: readonly string[] = ["-trimpath", "-buildvcs=false"];
export const BUILD_ENV: Readonly<Record<string, string>> = { CGO_ENABLED: "0", GOWORK: "off" };

/** Where and how long Go works. */
export interface GoPlace {
  /** The folder with go.mod. */
  readonly goModule: string;
  readonly signal: AbortSignal;
}

export interface GoCall {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** Called with each piece of what Go writes to its standard error. */
  readonly onErrorText: (text: string) => void;
}

export function isGoMissing(error: unknown): boolean {
  return (
    error instanceof Error && "code" in error && error.code === "ENOENT" && error.message.includes("spawn go")
  );
}

/** Runs Go below everything else on the machine; returns its exit code and output. A signal ends it with all that it started. */
export function runGo({ args, cwd, signal, onErrorText }: GoCall): Promise<{ code: number; output: string }> {
  return new Promise((resolve, reject) => {
    // A Go that is stopped leaves its work folder, and its compilers go on: hence a folder and a process group of its own.
    const work = mkdtempSync(join(tmpdir(), "go-assets-"));
    const go = spawn("go", args, {
      cwd,
      env: { ...process.env, ...BUILD_ENV, GOTMPDIR: work },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    let output = "";
    const stop = (): void => stopGroup(go);
    const end = (): void => {
      signal.removeEventListener("abort", stop);
      rmSync(work, { recursive: true, force: true });
    };
    signal.addEventListener("abort", stop, { once: true });
    go.once("spawn", () => {
      if (go.pid !== undefined) setPriority(go.pid, constants.priority.PRIORITY_LOW);
      if (signal.aborted) stop();
    });
    go.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    go.stderr.setEncoding("utf8").on("data", onErrorText);
    go.once("error", (error) => {
      end();
      reject(error);
    });
    go.once("close", (code) => {
      end();
      resolve({ code: code ?? 1, output });
    });
  });
}

function stopGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, "SIGTERM");
}

/** What Go prints; throws what it complains about. */
export async function go(
  { goModule, signal }: GoPlace,
  args: readonly string[],
  progress: Progress = buildProgress("go", 0),
): Promise<string> {
  const { code, output } = await runGo({ args, cwd: goModule, signal, onErrorText: progress.take });
  signal.throwIfAborted();
  // With -json, Go says on its standard output what is wrong with a module.
  if (code !== 0) throw new Error(`go ${args[0]} failed:\n${progress.complaints()}${output}`);
  return output;
}
