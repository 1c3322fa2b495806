/** `npm run liqo:assets`: sees to it that Liqo's definitions and its liqoctl are on this machine. */
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { readPins } from "../go-assets/cache.ts";
import { type AssetsTool, runAssetsTool } from "../go-assets/run-assets-tool.ts";
import { findLiqoHere, GO_MODULE, liqoVersion } from "./assets.ts";
import { fetchAssets } from "./fetch.ts";
import { PROGRAM } from "./recipe.ts";

const tool: AssetsTool = {
  name: "liqo-assets",
  script: "liqo:assets",
  noGo: "Go is not installed, and Liqo is not on this machine. Install Go 1.25 or newer and run this again.",
  find: () => findLiqoHere(process.env),
  bring: (errand) => fetchAssets({ ...errand, goModule: GO_MODULE }, liqoVersion(readPins(GO_MODULE))),
  describe: async (folder) => {
    const { stdout } = await promisify(execFile)(join(folder, PROGRAM), ["version", "--client"]);
    const wanted = liqoVersion(readPins(GO_MODULE));
    if (!stdout.includes(wanted)) throw new Error(`liqoctl is not ${wanted} but says: ${stdout.trim()}`);
    const count = readdirSync(join(folder, "crds")).length;
    if (count === 0) throw new Error("Liqo's module has no definitions where they are looked for.");
    return `liqoctl ${wanted} and ${count} definitions`;
  },
};

process.exitCode = await runAssetsTool(tool, process.argv.slice(2));
