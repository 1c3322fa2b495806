import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

/** What is public and lies in files, by a name that stays when the file moves. */
const PUBLIC_FILES: readonly (readonly [name: string, folder: string, pattern: string])[] = [
  ["openapi", "packages/contract", "openapi.json"],
  ["golden", "packages/contract/golden", "**/*.json"],
  ["crds", "deploy/crds", "*.yaml"],
  ["rbac", "deploy/rbac", "*.yaml"],
  ["admission", "deploy/admission", "*.yaml"],
  ["alerts", "deploy/observability/alerts", "*.yaml"],
  ["grafana", "deploy/observability/dashboards", "*.json"],
  ["helm", "deploy/helm", "*/{Chart.yaml,values.yaml,values.schema.json,templates/*.{yaml,tpl,txt}}"],
  ["kustomize", "deploy/kustomize", "{agent,broker,certmanager,network-policy,samples}/**/*.yaml"],
  ["reference", "docs/reference", "**/*.{md,json}"],
];

/** The content of each, by its name. */
export function publicFiles(root: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const [name, folder, pattern] of PUBLIC_FILES) {
    const paths = globSync(pattern, { cwd: join(root, folder) }).toSorted();
    if (paths.length === 0)
      throw new Error(
        `there is no ${folder}/${pattern} any more: PUBLIC_FILES in ${relative(root, import.meta.filename)} names it`,
      );
    for (const path of paths) found.set(`${name}/${path}`, readFileSync(join(root, folder, path), "utf8"));
  }
  return found;
}

/** Git keeps the content under this hash, so no copy of it is recorded. */
export function gitHash(text: string): string {
  return createHash("sha1")
    .update(`blob ${Buffer.byteLength(text)}\0${text}`)
    .digest("hex");
}

export function contentOf(root: string, hash: string): string {
  try {
    return execFileSync("git", ["cat-file", "blob", hash], {
      cwd: root,
      encoding: "utf8",
      maxBuffer: 2 ** 26,
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch (cause) {
    throw new Error(`the recorded content ${hash} is not in this clone: git fetch --unshallow brings it`, {
      cause,
    });
  }
}
