/** `npm run kube:assets`: sees to it that a real control plane and its kubectl are on this machine. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describeMissing, kubernetesVersion } from "./assets.ts";
import { buildAssets } from "./build.ts";
import { findAssetsHere, readPins } from "./find-here.ts";
import { PROGRAMS, type ProgramName } from "./recipe.ts";
import { type AssetsTool, runAssetsTool } from "./run-assets-tool.ts";
import { NO_GO } from "./run-go.ts";
import { describeVersions, VERSION_FLAGS } from "./versions.ts";

const tool: AssetsTool = {
  name: "kube-assets",
  script: "kube:assets",
  noGo: NO_GO,
  find: () => {
    const search = findAssetsHere(process.env);
    if (search.kind === "incomplete") return { refusal: describeMissing(search) };
    return { folder: search.folder, isThere: search.kind === "found" };
  },
  bring: (errand) => buildAssets({ ...errand, version: kubernetesVersion(readPins()) }),
  describe: async (folder) => {
    const ask = async (name: ProgramName) =>
      [name, (await promisify(execFile)(join(folder, name), VERSION_FLAGS[name])).stdout] as const;
    return describeVersions(new Map(await Promise.all(PROGRAMS.map(ask))));
  },
};

process.exitCode = await runAssetsTool(tool, process.argv.slice(2));
