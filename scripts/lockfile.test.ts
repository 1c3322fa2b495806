import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";

interface Entry {
  readonly link?: boolean;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const text = readFileSync(join(import.meta.dirname, "../package-lock.json"), "utf8");
const lockfile: { readonly packages: Readonly<Record<string, Entry>> } = JSON.parse(text);
const entries = Object.entries(lockfile.packages);

/** As npm does: in the package's own node_modules, then upward to the root. */
function isLocked(from: string, name: string): boolean {
  if (`${from}/node_modules/${name}`.replace(/^\//, "") in lockfile.packages) return true;
  return from !== "" && isLocked(from.includes("/") ? dirname(from) : "", name);
}

describe("package-lock.json", () => {
  it("locks the packages of every platform, else npm ci refuses it", () => {
    const missing = entries.flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter((name) => !isLocked(path, name)),
    );
    // Some registries lack the newest builds for other platforms: take the last version that is there for all.
    expect(missing).toEqual([]);
  });

  it("holds a checksum for every package that is downloaded", () => {
    const unchecked = entries.filter(
      ([path, entry]) =>
        path.includes("node_modules/") && entry.link !== true && entry.integrity === undefined,
    );
    expect(unchecked.map(([path]) => path)).toEqual([]);
  });

  it("names no download address, so that it works with any registry", () => {
    expect(entries.filter(([, entry]) => entry.resolved?.startsWith("http"))).toEqual([]);
  });
});
