import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { takeInstallLock } from "../../scripts/bootstrap/install-lock.mjs";
import { buildProgress, duration } from "../kube-assets/progress.ts";
import type { Errand } from "../kube-assets/run-assets-tool.ts";
import { runGo } from "../kube-assets/run-go.ts";
import { GO_MODULE, MARKER } from "./assets.ts";
import {
  buildArgs,
  DEFINITIONS,
  type DefinitionsModule,
  type HelmVersions,
  moduleFolder,
  PROGRAM,
  staleArgs,
} from "./recipe.ts";

const SAY_EVERY_MS = 10_000;

export interface FetchOptions extends Errand {
  readonly versions: HelmVersions;
}

/** Brings what is missing. A run that was broken off goes on where it was: Go keeps what it loaded and compiled. */
export async function fetchAssets(options: FetchOptions): Promise<void> {
  const { folder, versions, signal, say, check } = options;
  // Nothing is said or written where there is no Go.
  await runGo({ args: ["version"], cwd: GO_MODULE, signal, onErrorText: () => undefined });
  say(`helm ${versions.helm} and definitions go to ${folder}; the first time takes some minutes.`);
  mkdirSync(folder, { recursive: true });
  const release = await takeInstallLock(`${folder}.lock`, (pid) =>
    say(`process ${pid} is at it already; waiting …`),
  );
  try {
    if (existsSync(join(folder, MARKER))) return;
    for (const module of DEFINITIONS) await copyDefinitions(options, module);
    await buildHelm(options);
    writeFileSync(join(folder, MARKER), `${await check(folder)}\n`);
  } finally {
    release();
  }
}

async function copyDefinitions(options: FetchOptions, module: DefinitionsModule): Promise<void> {
  const said = await go(options, ["mod", "download", "-json", `${module.path}@${module.version}`]);
  const from = join(moduleFolder(module, said), module.folder);
  const to = join(options.folder, module.name);
  mkdirSync(to, { recursive: true });
  const files = readdirSync(from).filter((name) => name.endsWith(".yaml"));
  for (const name of files) copyFileSync(join(from, name), join(to, name));
  options.say(`${module.name} ${module.version}: ${files.length} definitions copied`);
}

async function buildHelm(options: FetchOptions): Promise<void> {
  const { folder, versions, say } = options;
  const target = join(folder, PROGRAM);
  if (existsSync(target)) return;
  say(`${PROGRAM}: looking up what it needs; Go downloads what is not there yet …`);
  const startedAt = performance.now();
  const stale = (await go(options, staleArgs())).split("\n").filter((line) => line !== "");
  const progress = buildProgress(PROGRAM, stale.length);
  const timer = setInterval(() => say(progress.line(performance.now() - startedAt)), SAY_EVERY_MS);
  const partial = `${target}.partial`;
  try {
    await go(options, buildArgs(versions, partial), progress);
    renameSync(partial, target);
  } finally {
    clearInterval(timer);
    rmSync(partial, { force: true });
  }
  say(`${PROGRAM}: built in ${duration(performance.now() - startedAt)}`);
}

async function go(
  { signal }: FetchOptions,
  args: readonly string[],
  progress = buildProgress(PROGRAM, 0),
): Promise<string> {
  const { code, output } = await runGo({ args, cwd: GO_MODULE, signal, onErrorText: progress.take });
  signal.throwIfAborted();
  // With -json, Go says on its standard output what is wrong with a module.
  if (code !== 0) throw new Error(`go ${args[0]} failed:\n${progress.complaints()}${output}`);
  return output;
}
