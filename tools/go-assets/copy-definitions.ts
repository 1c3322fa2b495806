import { copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Copies what a module has of YAML in one folder; returns how many files that were. */
export function copyDefinitions(from: string, to: string): number {
  mkdirSync(to, { recursive: true });
  const files = readdirSync(from).filter((name) => name.endsWith(".yaml"));
  for (const name of files) copyFileSync(join(from, name), join(to, name));
  return files.length;
}
