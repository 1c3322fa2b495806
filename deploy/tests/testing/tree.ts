import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../generate/files.ts";
import { type Manifest, manifestsIn } from "./objects.ts";

/** Files below a folder of the repository, by their paths from its root. */
export function filesBelow(folder: string): string[] {
  const entries = readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length))
    .sort();
}

export function read(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

/** A kustomization, as much of it as these tests look at. */
export interface Kustomization {
  readonly resources?: readonly string[];
  readonly images?: readonly { readonly name: string; readonly newTag: string }[];
  readonly configMapGenerator?: readonly { readonly name: string; readonly literals?: readonly string[] }[];
}

/** What a kustomization brings, with the folders that it names. */
export function kustomized(root: string): Manifest[] {
  return (kustomization(root).resources ?? []).flatMap((name) => {
    const path = join(root, name);
    return path.endsWith(".yaml") ? manifestsIn(read(path)) : kustomized(path);
  });
}

export function kustomization(root: string): Kustomization {
  const [found] = manifestsIn(read(join(root, "kustomization.yaml")));
  if (found === undefined) throw new Error(`${root}/kustomization.yaml is empty`);
  return found as Kustomization;
}
