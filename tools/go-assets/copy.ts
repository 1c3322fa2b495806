import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Copies a folder of a module, or the files in it whose names end so; returns how many files that were. What Go keeps is
 * write-protected; the copy is not, so that a later run can replace it.
 */
export function copyFolder(from: string, to: string, nameEnd = ""): number {
  rmSync(to, { recursive: true, force: true });
  const entries = readdirSync(from, { withFileTypes: true, recursive: true });
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith(nameEnd));
  for (const { parentPath, name } of files) {
    const target = join(to, parentPath.slice(from.length), name);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, readFileSync(join(parentPath, name)));
  }
  return files.length;
}
