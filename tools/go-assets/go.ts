import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { constants, setPriority, tmpdir } from "node:os";
import { join } from "node:path";

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

/** Counts what `go build -v` reports. */
export interface Progress {
  /** Takes a piece of Go's output; whole lines are counted, and those that are no progress are kept. */
  readonly take: (text: string) => void;
  /** One line for people. */
  readonly line: (elapsedMs: number) => string;
  /** The last lines that were neither a package nor a download: Go's complaints. */
  readonly complaints: () => string;
}

const KEPT_LINES = 20;
const DOWNLOAD = /^go: downloading /;
/** `k8s.io/apiserver/pkg/server`, `net/http`: nothing but a path. */
const PACKAGE = /^[\w.~+-]+(?:\/[\w.~+-]+)*$/;

export function buildProgress(program: string, packages: number): Progress {
  let downloaded = 0;
  let compiled = 0;
  let unfinished = "";
  let kept: string[] = [];

  const takeLine = (line: string): void => {
    if (DOWNLOAD.test(line)) downloaded += 1;
    else if (PACKAGE.test(line)) compiled += 1;
    else if (line !== "") kept = [...kept, line].slice(-KEPT_LINES);
  };

  return {
    take: (text) => {
      const lines = `${unfinished}${text}`.split("\n");
      unfinished = lines.pop() ?? "";
      for (const line of lines) takeLine(line);
    },
    line: (elapsedMs) => {
      const downloads = downloaded === 0 ? "" : `, ${downloaded} modules downloaded`;
      return `${program}: ${compiled} of ${packages} packages compiled${downloads}, ${duration(elapsedMs)}`;
    },
    complaints: () => [...kept, unfinished].filter((line) => line !== "").join("\n"),
  };
}

/** `45 s`, `3 min 05 s`. */
export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s`;
}

/** A module that Go loads by its name. Its own go.sum, which the checksum covers, pins what it needs in turn. */
export interface PinnedModule {
  readonly path: string;
  readonly version: string;
  /** Go's checksum of the module's zip: what go.sum is for the modules of a build. */
  readonly sum: string;
}

/** Where Go keeps a module, which it loads first. */
export async function moduleFolder(place: GoPlace, module: PinnedModule): Promise<string> {
  const output = await go(place, ["mod", "download", "-json", `${module.path}@${module.version}`]);
  return folderInOutput(module, output);
}

/** From what `go mod download -json` says of a module; throws where it is not the pinned one. */
export function folderInOutput(module: PinnedModule, output: string): string {
  const reply: unknown = JSON.parse(output);
  const [folder, sum] = [textIn(reply, "Dir"), textIn(reply, "Sum")];
  if (folder === undefined) throw new Error(`Go does not say where ${module.path} is: ${output.trim()}`);
  if (sum !== module.sum) {
    throw new Error(
      `${module.path}@${module.version} has the checksum ${sum}, not ${module.sum}: not taken.`,
    );
  }
  return folder;
}

function textIn(value: unknown, name: string): string | undefined {
  const found = Object.entries(value ?? {}).find(([key]) => key === name)?.[1] as unknown;
  return typeof found === "string" ? found : undefined;
}
