/**
 * Writes every file that is generated from the contract. `--check` writes nothing and fails when a committed file
 * is not what the contract says.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { CRD_FOLDERS, generatedFiles } from "./outputs.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const FAILED = 1;
const WRONG_USAGE = 2;

process.exitCode = main(process.argv.slice(2));

function main(flags: readonly string[]): number {
  const unknown = flags.find((flag) => flag !== "--check");
  if (unknown !== undefined) {
    console.error(`generate: unknown option ${unknown}. Usage: npm run generate [-- --check]`);
    return WRONG_USAGE;
  }
  const files = generatedFiles();
  return flags.includes("--check") ? check(files) : write(files);
}

function write(files: ReadonlyMap<string, string>): number {
  for (const [path, text] of files) {
    mkdirSync(dirname(join(ROOT, path)), { recursive: true });
    writeFileSync(join(ROOT, path), text);
  }
  console.log(`generate: wrote ${files.size} files`);
  return 0;
}

function check(files: ReadonlyMap<string, string>): number {
  const stale = [...files].filter(([path, text]) => committed(path) !== text).map(([path]) => path);
  const stray = CRD_FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => name !== "kustomization.yaml")
      .map((name) => `${folder}/${name}`),
  ).filter((path) => !files.has(path));
  if (stale.length + stray.length === 0) {
    console.log(`generate: ${files.size} files are up to date`);
    return 0;
  }
  for (const path of stale) console.error(`generate: ${path} is stale`);
  for (const path of stray) console.error(`generate: ${path} belongs to no kind; remove it`);
  console.error("generate: run `npm run generate` and commit the result");
  return FAILED;
}

function committed(path: string): string | undefined {
  try {
    return readFileSync(join(ROOT, path), "utf8");
  } catch {
    return undefined;
  }
}
