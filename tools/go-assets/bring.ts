import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { takeInstallLock } from "../../scripts/bootstrap/install-lock.mjs";
import { MARKER } from "./cache.ts";
import { buildProgress, duration, type Progress } from "./progress.ts";
import type { Errand } from "./run-assets-tool.ts";
import { COMPILE_FLAGS, runGo } from "./run-go.ts";

const SAY_EVERY_MS = 10_000;

/** An errand for which Go works in a module. */
export interface GoErrand extends Errand {
  /** The folder with go.mod. */
  readonly goModule: string;
}

/** Does the work unless it is done. What was broken off goes on where it was: Go keeps what it loaded and compiled. */
export async function bringOnce(
  { folder, goModule, signal, say, check }: GoErrand,
  announcement: string,
  work: () => Promise<void>,
): Promise<void> {
  // Nothing is said or written where there is no Go.
  await runGo({ args: ["version"], cwd: goModule, signal, onErrorText: () => undefined });
  say(announcement);
  mkdirSync(folder, { recursive: true });
  const release = await takeInstallLock(`${folder}.lock`, (pid) =>
    say(`process ${pid} is at it already; waiting …`),
  );
  try {
    if (existsSync(join(folder, MARKER))) return;
    await work();
    writeFileSync(join(folder, MARKER), `${await check(folder)}\n`);
  } finally {
    release();
  }
}

export interface Program {
  readonly name: string;
  /** What Go compiles. */
  readonly package: string;
  /** Most programs do not know their own version without them. */
  readonly linkFlags: string;
}

/** Builds a program into the errand's folder, unless it is there. */
export async function buildProgram(errand: GoErrand, program: Program): Promise<void> {
  const { folder, say } = errand;
  const { name } = program;
  const target = join(folder, name);
  if (existsSync(target)) return;
  say(`${name}: looking up what it needs; Go downloads what is not there yet …`);
  const startedAt = performance.now();
  const progress = buildProgress(name, await packagesToCompile(errand, program));
  const timer = setInterval(() => say(progress.line(performance.now() - startedAt)), SAY_EVERY_MS);
  const partial = `${target}.partial`;
  try {
    await go(errand, buildArgs(program, partial), progress);
    renameSync(partial, target);
  } finally {
    clearInterval(timer);
    rmSync(partial, { force: true });
  }
  say(`${name}: built in ${duration(performance.now() - startedAt)}`);
}

export function buildArgs({ linkFlags, package: path }: Omit<Program, "name">, target: string): string[] {
  return ["build", ...COMPILE_FLAGS, "-v", "-ldflags", linkFlags, "-o", target, path];
}

/** How many packages are not in Go's own cache yet. */
async function packagesToCompile(errand: GoErrand, { name, package: path }: Program): Promise<number> {
  const args = ["list", "-deps", ...COMPILE_FLAGS, "-f", "{{if .Stale}}{{.ImportPath}}{{end}}", path];
  const output = await go(errand, args, buildProgress(name, 0));
  return output.split("\n").filter((line) => line !== "").length;
}

/** What Go prints; throws what it complains about. */
export async function go(
  { goModule, signal }: Pick<GoErrand, "goModule" | "signal">,
  args: readonly string[],
  progress: Progress = buildProgress("go", 0),
): Promise<string> {
  const { code, output } = await runGo({ args, cwd: goModule, signal, onErrorText: progress.take });
  signal.throwIfAborted();
  // With -json, Go says on its standard output what is wrong with a module.
  if (code !== 0) throw new Error(`go ${args[0]} failed:\n${progress.complaints()}${output}`);
  return output;
}
