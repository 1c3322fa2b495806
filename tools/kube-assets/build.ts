import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { takeInstallLock } from "../../scripts/bootstrap/install-lock.mjs";
import { MARKER } from "./assets.ts";
import { GO_MODULE } from "./find-here.ts";
import { buildProgress, duration } from "./progress.ts";
import { COMPILE_FLAGS, linkFlags, PACKAGES, PROGRAMS, type ProgramName } from "./recipe.ts";
import type { Errand } from "./run-assets-tool.ts";
import { runGo } from "./run-go.ts";

const SAY_EVERY_MS = 10_000;

export interface BuildOptions extends Errand {
  readonly version: string;
}

/** Builds what is missing. One that was broken off goes on where it was: whole programs stay, and Go keeps what it compiled. */
export async function buildAssets(options: BuildOptions): Promise<void> {
  const { folder, version, signal, say, check } = options;
  // Nothing is said or written where there is no Go.
  await runGo({ args: ["version"], cwd: GO_MODULE, signal, onErrorText: () => undefined });
  say(`Kubernetes ${version} is built into ${folder}; the first time takes ten minutes or more.`);
  mkdirSync(folder, { recursive: true });
  const release = await takeInstallLock(`${folder}.lock`, (pid) =>
    say(`process ${pid} is building them already; waiting …`),
  );
  try {
    if (existsSync(join(folder, MARKER))) return;
    for (const program of PROGRAMS) await buildProgram(program, options);
    writeFileSync(join(folder, MARKER), `${await check(folder)}\n`);
  } finally {
    release();
  }
}

async function buildProgram(program: ProgramName, options: BuildOptions): Promise<void> {
  const { folder, version, signal, say } = options;
  const target = join(folder, program);
  if (existsSync(target)) return;
  say(`${program}: looking up what it needs; Go downloads what is not there yet …`);
  const startedAt = performance.now();
  const progress = buildProgress(program, await packagesToCompile(program, options));
  const timer = setInterval(() => say(progress.line(performance.now() - startedAt)), SAY_EVERY_MS);
  const partial = `${target}.partial`;
  try {
    const flags = [...COMPILE_FLAGS, "-v", "-ldflags", linkFlags(version), "-o", partial];
    const args = ["build", ...flags, PACKAGES[program]];
    const { code } = await runGo({ args, cwd: GO_MODULE, signal, onErrorText: progress.take });
    signal.throwIfAborted();
    if (code !== 0) throw new Error(`go build of ${program} failed:\n${progress.complaints()}`);
    renameSync(partial, target);
  } finally {
    clearInterval(timer);
    rmSync(partial, { force: true });
  }
  say(`${program}: built in ${duration(performance.now() - startedAt)}`);
}

/** How many packages are not in Go's own cache yet. */
async function packagesToCompile(program: ProgramName, { signal }: BuildOptions): Promise<number> {
  const progress = buildProgress(program, 0);
  const args = ["list", "-deps", ...COMPILE_FLAGS, "-f", "{{if .Stale}}{{.ImportPath}}{{end}}"];
  const call = { args: [...args, PACKAGES[program]], cwd: GO_MODULE, signal, onErrorText: progress.take };
  const { code, output } = await runGo(call);
  signal.throwIfAborted();
  if (code !== 0) throw new Error(`go list of ${program} failed:\n${progress.complaints()}`);
  return output.split("\n").filter((line) => line !== "").length;
}
