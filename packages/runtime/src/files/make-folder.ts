import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

/**
 * Makes a folder and those above it, and names the highest that is new. Node's own `recursive` tries for ever where the
 * system answers ENOENT although the parent is there, as below /proc.
 */
export function makeFolder(path: string, mode = 0o777): string | undefined {
  const missing: string[] = [];
  for (let each = resolve(path); !existsSync(each); each = dirname(each)) missing.unshift(each);
  if (missing.length === 0 && !isFolder(path)) mkdirSync(path);
  for (const each of missing) makeOne(each, mode);
  return missing[0];
}

function makeOne(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    // Another process was faster.
    if (code === "EEXIST" && isFolder(path)) return;
    if (code !== "ENOENT") throw error;
    const text = `EROFS: no folder can be made here, mkdir '${path}'`;
    throw Object.assign(new Error(text, { cause: error }), { code: "EROFS", path, syscall: "mkdir" });
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
