import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Bom, Lockfile } from "./program-sbom.ts";

const FLAGS = ["--sbom-format=cyclonedx", "--sbom-type=application", "--package-lock-only"];
const MOST_BYTES = 64 * 1024 * 1024;

/** What package-lock.json holds, as npm lists it. Needs neither the network nor installed packages. */
export async function listEverything(root: string): Promise<Bom> {
  const { stdout } = await promisify(execFile)("npm", ["sbom", ...FLAGS], {
    cwd: root,
    maxBuffer: MOST_BYTES,
  });
  const bom: unknown = JSON.parse(stdout);
  if (isBom(bom)) return bom;
  throw new Error("npm sbom printed no CycloneDX list: npm 10 or newer is needed");
}

function isBom(value: unknown): value is Bom {
  return (
    typeof value === "object" &&
    value !== null &&
    "bomFormat" in value &&
    value.bomFormat === "CycloneDX" &&
    "components" in value &&
    "dependencies" in value
  );
}

export async function readLockfile(root: string): Promise<Lockfile> {
  const lockfile: unknown = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8"));
  if (isLockfile(lockfile)) return lockfile;
  throw new Error("package-lock.json holds no packages: npm 7 or newer writes them");
}

function isLockfile(value: unknown): value is Lockfile {
  return typeof value === "object" && value !== null && "packages" in value;
}
