import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { takeInstallLock } from "../../scripts/bootstrap/install-lock.mjs";
import {
  buildProgress,
  COMPILE_FLAGS,
  duration,
  type GoPlace,
  go,
  moduleFolder,
  type PinnedModule,
  runGo,
} from "./go.ts";

const SAY_EVERY_MS = 10_000;
/** Written last: a folder without it was broken off. */
const MARKER = "complete";

/** What is taken out of a module as it is. */
interface Copy {
  /** The name in the assets' folder. */
  readonly to: string;
  readonly module: PinnedModule;
  /** A folder of the module; or files, which become one: so YAML documents are joined. */
  readonly from: string | readonly string[];
  /** Of a folder, only files whose names end so. */
  readonly nameEnd?: string;
}

export interface Program {
  readonly name: string;
  /** What Go compiles. */
  readonly package: string;
  /** Most programs do not know their own version without them. */
  readonly linkFlags: string;
  /** Built in this module's own folder, where its `replace` lines count; else in the tool's module. */
  readonly module?: PinnedModule;
}

/** All that a tool's folder holds. */
export interface AssetsList {
  readonly copies: readonly Copy[];
  readonly programs: readonly Program[];
}

/** The names of what is in the finished folder. */
export function namesIn({ copies, programs }: AssetsList): string[] {
  return [...copies, ...programs].map((each) => ("to" in each ? each.to : each.name));
}

/** Whether the work was done, and nobody has removed any of it since. */
export function isWhole(folder: string, parts: readonly string[], exists = existsSync): boolean {
  return [MARKER, ...parts].every((name) => exists(join(folder, name)));
}

/** An errand for which Go works in a module. */
export interface BringJob extends GoPlace {
  readonly folder: string;
  readonly list: AssetsList;
  readonly announcement: string;
  readonly log: (line: string) => void;
  /** Looks at the finished folder; throws where it is not what was wanted. */
  readonly check: (folder: string) => Promise<string>;
}

/** Brings what is missing. What was broken off goes on where it was: Go keeps what it loaded and compiled. */
export async function bring(job: BringJob): Promise<void> {
  const { folder, list, goModule, signal, log } = job;
  // Nothing is said or written where there is no Go.
  await runGo({ args: ["version"], cwd: goModule, signal, onErrorText: () => undefined });
  log(job.announcement);
  mkdirSync(folder, { recursive: true });
  const onWait = (pid: number): void => log(`process ${pid} is at it already; waiting …`);
  const release = await takeInstallLock(`${folder}.lock`, onWait, signal);
  try {
    if (isWhole(folder, namesIn(list))) return;
    // Where a part was removed later: what is copied anew is not whole until the end.
    rmSync(join(folder, MARKER), { force: true });
    for (const copy of list.copies) await takeCopy(job, copy);
    for (const program of list.programs) await buildProgram(job, program);
    writeFileSync(join(folder, MARKER), `${await job.check(folder)}\n`);
  } finally {
    release();
  }
}

async function takeCopy(job: BringJob, { to, module, from, nameEnd = "" }: Copy): Promise<void> {
  const [folder, target] = [await moduleFolder(job, module), join(job.folder, to)];
  if (typeof from === "string") copyFolder(join(folder, from), target, nameEnd);
  else writeFileSync(target, from.map((name) => readFileSync(join(folder, name), "utf8")).join("\n---\n"));
  job.log(`${to}: copied from ${module.path} ${module.version}`);
}

/** What Go keeps is write-protected; the copy is not, so that a later run can replace it. */
function copyFolder(from: string, to: string, nameEnd: string): void {
  rmSync(to, { recursive: true, force: true });
  for (const entry of readdirSync(from, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || !entry.name.endsWith(nameEnd)) continue;
    const target = join(to, entry.parentPath.slice(from.length), entry.name);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, readFileSync(join(entry.parentPath, entry.name)));
  }
}

/** Builds a program into the folder, unless it is there. */
async function buildProgram(job: BringJob, program: Program): Promise<void> {
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
