import { readlinkSync, symlinkSync, unlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 200;

/**
 * Waits until no other process holds the lock, then takes it. The lock is a symbolic link that points to the
 * holder's process id: made in one step, so there is never a lock without an owner to ask about.
 * @param {string} path
 * @param {(holder: number) => void} onWait called once when there is somebody to wait for
 * @param {AbortSignal} [signal] ends the waiting
 * @returns {Promise<() => void>} gives the lock back
 */
export async function takeInstallLock(path, onWait, signal) {
  for (let waited = false; ; waited = true) {
    if (tryLink(path)) return () => removeIfThere(path);
    const holder = holderOf(path);
    if (holder === undefined) continue;
    if (isRunning(holder)) {
      if (!waited) onWait(holder);
      await sleep(POLL_MS, undefined, signal && { signal });
    } else if (holderOf(path) === holder) {
      // The holder was killed before it could clean up.
      removeIfThere(path);
    }
  }
}

/** @param {string} path */
function tryLink(path) {
  try {
    symlinkSync(String(process.pid), path);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** @param {string} path */
function holderOf(path) {
  try {
    return Number(readlinkSync(path));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** @param {number} pid */
function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}

/** @param {string} path */
function removeIfThere(path) {
  try {
    unlinkSync(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

/** @param {unknown} error */
function codeOf(error) {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
