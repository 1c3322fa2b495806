import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { GENERATED_FOLDERS, type Sources } from "./outputs.ts";

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** The work tree. */
export const repository: Sources = {
  read: (path) => readFileSync(join(ROOT, path), "utf8"),
  list: (folder) => filesIn(folder),
};

/** Files that differ from what they should be, and files that nothing makes any more. */
export function differences(files: ReadonlyMap<string, string>): {
  readonly stale: readonly string[];
  readonly stray: readonly string[];
} {
  const stray = GENERATED_FOLDERS.flatMap((folder) => filesIn(folder).map((name) => `${folder}/${name}`));
  return {
    stale: [...files].filter(([path, text]) => committed(path) !== text).map(([path]) => path),
    stray: stray.filter((path) => !files.has(path)),
  };
}

function committed(path: string): string | undefined {
  try {
    return repository.read(path);
  } catch {
    return undefined;
  }
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(join(ROOT, folder)).sort();
  } catch {
    return [];
  }
}
