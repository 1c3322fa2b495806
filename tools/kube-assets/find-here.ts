import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { fileURLToPath } from "node:url";
import { type AssetsSearch, findAssets, type Pins } from "./assets.ts";

export const GO_MODULE = fileURLToPath(new URL(".", import.meta.url));

export function readPins(): Pins {
  const read = (name: string): string => readFileSync(new URL(name, import.meta.url), "utf8");
  return { goMod: read("go.mod"), goSum: read("go.sum") };
}

/** Looks for the programs on this machine. */
export function findAssetsHere(env: Readonly<Record<string, string | undefined>>): AssetsSearch {
  const { platform, arch } = process;
  return findAssets({ env, home: homedir(), platform, arch, exists: existsSync }, readPins());
}
