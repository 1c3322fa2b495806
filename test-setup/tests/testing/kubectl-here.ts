import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { findAssetsHere } from "../../../tools/kube-assets/find-here.ts";

/** Whether the scripts find a kubectl: skipping is said aloud, and with `KUBECTL_REQUIRED=1` there must be one. */
export function hasKubectl(): boolean {
  const assets = findAssetsHere(process.env);
  const isBuilt = assets.kind === "found" && existsSync(join(assets.folder, "kubectl"));
  if (isBuilt || spawnSync("kubectl", ["version", "--client"]).status === 0) return true;
  const why = "there is no kubectl: install it, or run npm run kube:assets";
  if (process.env["KUBECTL_REQUIRED"] === "1") throw new Error(`KUBECTL_REQUIRED is set, but ${why}`);
  process.stderr.write(`Tests of test-setup on simulated clusters are SKIPPED: ${why}\n`);
  return false;
}
