import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { takeInstallLock } from "../../scripts/bootstrap/install-lock.mjs";
import { isWhole, MARKER } from "./cache.ts";
import { moduleFolder, type PinnedModule } from "./pinned-module.ts";
import { buildProgress, duration } from "./progress.ts";
import type { AssetsJob } from "./run-assets-tool.ts";
import { COMPILE_FLAGS, type GoPlace, go, runGo } from "./run-go.ts";

const SAY_EVERY_MS = 10_000;

/** An errand for which Go works in a module. */
export interface GoBuildJob extends AssetsJob, GoPlace {}

/** Does the work unless it is done. What was broken off goes on where it was: Go keeps what it loaded and compiled. */
export async function bringOnce(
  { folder, parts, goModule, signal, log, check }: GoBuildJob,
  announcement: string,
  work: () => Promise<void>,
): Promise<void> {
  // Nothing is said or written where there is no Go.
  await runGo({ args: ["version"], cwd: goModule, signal, onErrorText: () => undefined });
  log(announcement);
  mkdirSync(folder, { recursive: true });
  const release = await takeInstallLock(
    `${folder}.lock`,
    (pid) => log(`process ${pid} is at it already; waiting …`),
    signal,
  );
  try {
    if (isWhole(folder, parts)) return;
    // Where a part was removed later: what is copied anew is not whole until the end.
    rmSync(join(folder, MARKER), { force: true });
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
  /** Built in this module's own folder, where its `replace` lines count; else in the errand's module. */
  readonly module?: PinnedModule;
}

/** Builds a program into the errand's folder, unless it is there. */
export async function buildProgram(job: GoBuildJob, program: Program): Promise<void> {
  const { folder, log } = job;
  const { name, module } = program;
  const target = join(folder, name);
  if (existsSync(target)) return;
  log(`${name}: looking up what it needs; Go downloads what is not there yet …`);
  const startedAt = performance.now();
  const place = module === undefined ? job : { ...job, goModule: await moduleFolder(job, module) };
  const progress = buildProgress(name, await packagesToCompile(place, program));
  const timer = setInterval(() => log(progress.line(performance.now() - startedAt)), SAY_EVERY_MS);
  const partial = `${target}.partial`;
  try {
    await go(place, buildArgs(program, partial), progress);
    renameSync(partial, target);
  } finally {
    clearInterval(timer);
    rmSync(partial, { force: true });
  }
  log(`${name}: built in ${duration(performance.now() - startedAt)}`);
}

export function buildArgs(program: Program, target: string): string[] {
  const { linkFlags, package: path } = program;
  return ["build", ...compileFlags(program), "-v", "-ldflags", linkFlags, "-o", target, path];
}

/** Go leaves a module's vendor folder out, and would look into it for what it then has not. */
function compileFlags({ module }: Program): readonly string[] {
  return module === undefined ? COMPILE_FLAGS : [...COMPILE_FLAGS, "-mod=readonly"];
}

/** How many packages are not in Go's own cache yet. */
async function packagesToCompile(place: GoPlace, program: Program): Promise<number> {
  const { name, package: path } = program;
  const args = ["list", "-deps", ...compileFlags(program), "-f", "{{if .Stale}}{{.ImportPath}}{{end}}", path];
  const output = await go(place, args, buildProgress(name, 0));
  return output.split("\n").filter((line) => line !== "").length;
}
