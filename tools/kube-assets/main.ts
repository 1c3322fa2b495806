/** `npm run kube:assets`: sees to it that a real control plane and its kubectl are on this machine. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { bringOnce, buildProgram, type GoBuildJob } from "../go-assets/bring.ts";
import { readPins } from "../go-assets/cache.ts";
import { type AssetsTool, runAssetsTool } from "../go-assets/run-assets-tool.ts";
import { describeMissing, kubernetesVersion } from "./assets.ts";
import { findAssetsHere, GO_MODULE } from "./find-here.ts";
import { linkFlags, PACKAGES, PROGRAMS, type ProgramName } from "./recipe.ts";
import { describeVersions, VERSION_FLAGS } from "./versions.ts";

const tool: AssetsTool = {
  name: "kube-assets",
  script: "kube:assets",
  noGo:
    "Go is not installed, and there is no real control plane on this machine. Install Go 1.24 or newer and run this " +
    "again, or set KUBEBUILDER_ASSETS to a folder with etcd, kube-apiserver, kube-controller-manager and kubectl.",
  parts: PROGRAMS,
  find: () => {
    const search = findAssetsHere(process.env);
    if (search.kind === "incomplete") return { refusal: describeMissing(search) };
    return { folder: search.folder, isThere: search.kind === "found" };
  },
  bring: (job) => buildAssets({ ...job, goModule: GO_MODULE }, kubernetesVersion(readPins(GO_MODULE))),
  describe: async (folder) => {
    const ask = async (name: ProgramName) =>
      [name, (await promisify(execFile)(join(folder, name), VERSION_FLAGS[name])).stdout] as const;
    return describeVersions(new Map(await Promise.all(PROGRAMS.map(ask))));
  },
};

process.exitCode = await runAssetsTool(tool, process.argv.slice(2));

/** Builds what is missing: whole programs stay. */
function buildAssets(job: GoBuildJob, version: string): Promise<void> {
  const announcement = `Kubernetes ${version} is built into ${job.folder}; the first time takes ten minutes or more.`;
  return bringOnce(job, announcement, async () => {
    for (const name of PROGRAMS)
      await buildProgram(job, { name, package: PACKAGES[name], linkFlags: linkFlags(version) });
  });
}
