import { cp, mkdir, readdir, symlink } from "node:fs/promises";
import { join } from "node:path";

/** All that tests and the simulation read. */
const PARTS = [
  "packages",
  "apps",
  "test",
  "scripts",
  "tools",
  "deploy", // a test compares rights with it
  "docs", // snapshots of tests: with CI=true a missing one fails
  "package.json",
  "vitest.config.ts",
  "everyday-seed.ts",
  "tsconfig.base.json",
  "tsconfig.json",
];
/** Where our own packages are linked in: these must be the copy's. */
const OWN = "@resource-broker";
const NOT_COPIED = new Set(["node_modules", ".git", "dist"]);

/** A copy of the sources that can be broken without harm. Dependencies are linked, our own packages are the copy's. */
export async function copyTree(from: string, to: string): Promise<void> {
  for (const part of PARTS) {
    await cp(join(from, part), join(to, part), {
      recursive: true,
      filter: (path) => !NOT_COPIED.has(path.slice(path.lastIndexOf("/") + 1)),
    });
  }
  const [theirs, ours] = [join(from, "node_modules"), join(to, "node_modules")];
  await mkdir(join(ours, OWN), { recursive: true });
  for (const name of await readdir(theirs)) {
    // Caches are written to: each copy has its own.
    if (name !== OWN && (!name.startsWith(".") || name === ".bin"))
      await symlink(join(theirs, name), join(ours, name));
  }
  for (const name of await readdir(join(theirs, OWN))) {
    for (const folder of ["packages", "apps", "test"]) {
      const isThere = (await readdir(join(to, folder))).includes(name);
      if (isThere) await symlink(join(to, folder, name), join(ours, OWN, name));
    }
  }
}
