import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join, sep } from "node:path";

/** A package of others, parts of which are in a bundle. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly folder: string;
}

const INSIDE = `${sep}node_modules${sep}`;
const LICENSE_FILE = /^(licen[cs]e|copying|notice)/i;

/** The packages that files come from, by name. Our own are none: they lie outside of node_modules. */
export async function packagesOf(sources: readonly string[]): Promise<BundledPackage[]> {
  const folders = new Set(sources.filter((source) => source.includes(INSIDE)).map(packageFolder));
  const packages = await Promise.all([...folders].map(readPackage));
  return packages.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The texts that their licenses ask us to pass on. */
export async function licenseTexts(packages: readonly BundledPackage[]): Promise<string> {
  const parts = await Promise.all(packages.map(licenseText));
  return parts.join(`\n${"-".repeat(80)}\n\n`);
}

function packageFolder(source: string): string {
  const start = source.lastIndexOf(INSIDE) + INSIDE.length;
  const [scope = "", name = ""] = source.slice(start).split(sep);
  return join(source.slice(0, start), scope.startsWith("@") ? join(scope, name) : scope);
}

async function readPackage(folder: string): Promise<BundledPackage> {
  const file = join(folder, "package.json");
  if (!existsSync(file)) throw new Error(`${folder} is no package: there is no package.json`);
  const manifest: unknown = JSON.parse(await readFile(file, "utf8"));
  if (!isManifest(manifest)) throw new Error(`${file} does not say name, version and license`);
  const { name, version, license } = manifest;
  return { name, version, license, folder };
}

function isManifest(value: unknown): value is Omit<BundledPackage, "folder"> {
  if (typeof value !== "object" || value === null) return false;
  const { name, version, license }: Partial<Record<string, unknown>> = { ...value };
  return [name, version, license].every((each) => typeof each === "string");
}

async function licenseText({ name, version, license, folder }: BundledPackage): Promise<string> {
  const files = (await readdir(folder)).filter((file) => LICENSE_FILE.test(file)).sort();
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
  return [`${name} ${version} (${license})\n`, ...texts].join("\n");
}
