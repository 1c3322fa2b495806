import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describeMissing } from "../../../tools/kube-assets/assets.ts";
import { findAssetsHere } from "../../../tools/kube-assets/find-here.ts";
import { ROOT } from "../../generate/files.ts";

/** Undefined: kubectl is there. Else why not. */
export function whyNoKubectl(): string | undefined {
  const search = findAssetsHere(process.env);
  return search.kind === "found" ? undefined : describeMissing(search);
}

export function kustomizeFolder(name: string): string {
  return join(ROOT, "deploy/kustomize", name);
}

/** What `kubectl apply -k` would write into the cluster. */
export async function kustomize(name: string): Promise<string> {
  const kubectl = join(findAssetsHere(process.env).folder, "kubectl");
  return (await promisify(execFile)(kubectl, ["kustomize", kustomizeFolder(name)])).stdout;
}
