import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { findControlPlane } from "../../../tools/kube-assets/assets.ts";
import { ROOT } from "../../generate/files.ts";

/** Undefined: kubectl is there. Else why not. */
export function whyNoKubectl(): string | undefined {
  const { isThere, why } = findControlPlane(process.env);
  return isThere ? undefined : why;
}

export function kustomizeFolder(name: string): string {
  return join(ROOT, "deploy/kustomize", name);
}

/** What `kubectl apply -k` would write into the cluster. */
export async function kustomize(name: string): Promise<string> {
  const kubectl = join(findControlPlane(process.env).folder, "kubectl");
  return (await promisify(execFile)(kubectl, ["kustomize", kustomizeFolder(name)])).stdout;
}
