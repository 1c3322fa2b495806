import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { takeInstallLock } from "../../scripts/bootstrap/install-lock.mjs";
import { buildProgress, duration } from "../kube-assets/progress.ts";
import type { Errand } from "../kube-assets/run-assets-tool.ts";
import { runGo } from "../kube-assets/run-go.ts";
import { GO_MODULE, MARKER } from "./assets.ts";
import { buildArgs, DEFINITIONS, MODULE, PROGRAM, staleArgs } from "./recipe.ts";

const SAY_EVERY_MS = 10_000;

export interface FetchOptions extends Errand {
  readonly version: string;
}

/** Brings what is missing. A run that was broken off goes on where it was: Go keeps what it loaded and compiled. */
export async function fetchAssets(options: FetchOptions): Promise<void> {
  const { folder, version, signal, say, check } = options;
  // Nothing is said or written where there is no Go.
  await runGo({ args: ["version"], cwd: GO_MODULE, signal, onErrorText: () => undefined });
  say(`Liqo ${version} goes to ${folder}; the first time takes some minutes.`);
  mkdirSync(folder, { recursive: true });
  const release = await takeInstallLock(`${folder}.lock`, (pid) =>
    say(`process ${pid} is at it already; waiting …`),
  );
  try {
    if (existsSync(join(folder, MARKER))) return;
    await copyDefinitions(options);
    await buildLiqoctl(options);
    writeFileSync(join(folder, MARKER), `${await check(folder)}\n`);
  } finally {
    release();
  }
}

async function copyDefinitions(options: FetchOptions): Promise<void> {
  const from = join(await moduleFolder(options), DEFINITIONS);
  const to = join(options.folder, "crds");
  mkdirSync(to, { recursive: true });
  const files = readdirSync(from).filter((name) => name.endsWith(".yaml"));
  for (const name of files) copyFileSync(join(from, name), join(to, name));
  options.say(`${files.length} definitions copied`);
}

/** Where Go keeps Liqo's module, which it loads first. */
async function moduleFolder(options: FetchOptions): Promise<string> {
  await go(options, ["mod", "download", MODULE]);
  return (await go(options, ["list", "-m", "-f", "{{.Dir}}", MODULE])).trim();
}

async function buildLiqoctl(options: FetchOptions): Promise<void> {
  const { folder, version, say } = options;
  const target = join(folder, PROGRAM);
  if (existsSync(target)) return;
  say(`${PROGRAM}: looking up what it needs; Go downloads what is not there yet …`);
  const startedAt = performance.now();
  const stale = (await go(options, staleArgs())).split("\n").filter((line) => line !== "");
  const progress = buildProgress(PROGRAM, stale.length);
  const timer = setInterval(() => say(progress.line(performance.now() - startedAt)), SAY_EVERY_MS);
  const partial = `${target}.partial`;
  try {
    await go(options, buildArgs(version, partial), progress);
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
  if (code !== 0) throw new Error(`go ${args[0]} failed:\n${progress.complaints()}`);
  return output;
}
