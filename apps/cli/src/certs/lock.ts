import { readFile, rm, writeFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { CommandError } from "../cli/exit-code.ts";
import type { Host } from "../cli/host.ts";
import { asCommandError } from "./files.ts";
import type { Layout } from "./layout.ts";

const LOCK_RETRY = { attempts: 200, pauseMs: 50 };
/** Shorter waits are not worth a word. */
const FIRST_NOTE = 10;

/** One command at a time may sign: two would write the register over each other and forget a certificate. */
export async function withLock<Result>(
  layout: Layout,
  host: Host,
  work: () => Promise<Result>,
): Promise<Result> {
  await acquireLock(layout.lock, host);
  try {
    return await work();
  } finally {
    await rm(layout.lock, { force: true });
  }
}

async function acquireLock(path: string, host: Host): Promise<void> {
  for (let attempt = 0; attempt < LOCK_RETRY.attempts; attempt++) {
    if (await tryLock(path)) return;
    const holder = await holderOf(path);
    if (holder !== undefined && !isRunning(holder))
      await rm(path, { force: true }); // it was killed
    else {
      if (attempt === FIRST_NOTE)
        host.note(`Waiting for another brokerctl (process ${holder ?? "unknown"}) …\n`);
      await pause(LOCK_RETRY.pauseMs);
    }
  }
  throw new CommandError(
    "conflict",
    `another brokerctl (process ${(await holderOf(path)) ?? "unknown"}) is using this folder. Try again. If no such process exists, remove ${path}`,
  );
}

async function tryLock(path: string): Promise<boolean> {
  try {
    await writeFile(path, String(process.pid), { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw asCommandError(error);
  }
}

/** Undefined: the lock was given back meanwhile, or its holder has not written its number yet. */
async function holderOf(path: string): Promise<number | undefined> {
  const text = await readFile(path, "utf8").catch(() => "");
  return /^[0-9]+$/u.test(text) ? Number(text) : undefined;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
