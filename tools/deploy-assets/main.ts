/** `npm run deploy:assets`: sees to it that helm, and the definitions that our manifests build on, are on this machine. */
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { readPins } from "../go-assets/cache.ts";
import { type AssetsTool, runAssetsTool } from "../go-assets/run-assets-tool.ts";
import { findDeployAssetsHere, GO_MODULE } from "./assets.ts";
import { fetchAssets } from "./fetch.ts";
import { DEFINITIONS, helmVersions, PARTS, PROGRAM } from "./recipe.ts";

const tool: AssetsTool = {
  name: "deploy-assets",
  script: "deploy:assets",
  noGo: "Go is not installed, and helm and the definitions are not on this machine. Install Go 1.26 or newer and run this again.",
  parts: PARTS,
  find: () => findDeployAssetsHere(process.env),
  bring: (job) => fetchAssets({ ...job, goModule: GO_MODULE }, helmVersions(readPins(GO_MODULE))),
  describe: async (folder) => {
    const { stdout } = await promisify(execFile)(join(folder, PROGRAM), ["version", "--short"]);
    const { helm: wanted } = helmVersions(readPins(GO_MODULE));
    if (!stdout.startsWith(wanted)) throw new Error(`helm is not ${wanted} but says: ${stdout.trim()}`);
    const definitions = DEFINITIONS.map(({ name, version }) => {
      const count = readdirSync(join(folder, name)).length;
      if (count === 0) throw new Error(`${name}'s module has no definitions where they are looked for.`);
      return `${count} definitions of ${name} ${version}`;
    });
    return [`helm ${wanted}`, ...definitions].join(", ");
  },
};

process.exitCode = await runAssetsTool(tool, process.argv.slice(2));
