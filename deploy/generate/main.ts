/**
 * Writes every file of deploy/ that is made from others: values and their tables, and what the charts and kustomizations
 * take from deploy/rbac, deploy/admission and the files of the charts. `--check` writes nothing and fails when
 * a file is not what its sources say.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { differences, ROOT, repository } from "./files.ts";
import { generatedFiles } from "./outputs.ts";

const FAILED = 1;
const WRONG_USAGE = 2;

process.exitCode = main(process.argv.slice(2));

function main(flags: readonly string[]): number {
  const unknown = flags.find((flag) => flag !== "--check");
  if (unknown !== undefined) {
    console.error(
      `deploy/generate: unknown option ${unknown}. Usage: node deploy/generate/main.ts [--check]`,
    );
    return WRONG_USAGE;
  }
  const files = generatedFiles(repository);
  const { stale, stray } = differences(files);
  if (flags.includes("--check")) return report(stale, stray);
  for (const path of stray) rmSync(join(ROOT, path));
  for (const path of stale) {
    mkdirSync(dirname(join(ROOT, path)), { recursive: true });
    writeFileSync(join(ROOT, path), files.get(path) ?? "");
  }
  console.log(`deploy/generate: ${files.size} files, ${stale.length} written, ${stray.length} removed`);
  return 0;
}

function report(stale: readonly string[], stray: readonly string[]): number {
  for (const path of stale) console.error(`deploy/generate: ${path} is not what its source says`);
  for (const path of stray) console.error(`deploy/generate: ${path} has no source`);
  if (stale.length + stray.length === 0) return 0;
  console.error("deploy/generate: run `node deploy/generate/main.ts` and commit the result");
  return FAILED;
}
