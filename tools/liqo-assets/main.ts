/** `npm run liqo:assets`: sees to it that Liqo, and what clusters need to run it, are on this machine. */
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { bringList, namesIn } from "../go-assets/assets-list.ts";
import { bringOnce } from "../go-assets/bring.ts";
import { readPins } from "../go-assets/cache.ts";
import { type AssetsTool, runAssetsTool } from "../go-assets/run-assets-tool.ts";
import { kubernetesVersion } from "../kube-assets/assets.ts";
import { GO_MODULE } from "../kube-assets/find-here.ts";
import { findLiqoHere } from "./assets.ts";
import { DEFINITIONS, KWOK, LIQO, liqoAssetsList } from "./recipe.ts";

const kubernetes = kubernetesVersion(readPins(GO_MODULE));
const list = liqoAssetsList(kubernetes);

const tool: AssetsTool = {
  name: "liqo-assets",
  script: "liqo:assets",
  noGo: "Go is not installed, and Liqo is not on this machine. Install Go 1.26 or newer and run this again.",
  parts: namesIn(list),
  find: () => findLiqoHere(process.env),
  bring: (job) => {
    const announcement = `Liqo ${LIQO.version} goes to ${job.folder}; the first time takes some minutes.`;
    const whole = { ...job, goModule: GO_MODULE };
    return bringOnce(whole, announcement, () => bringList(whole, list));
  },
  describe: async (folder) => {
    const { stdout } = await promisify(execFile)(join(folder, "liqoctl"), ["version", "--client"]);
    const { version } = LIQO;
    if (!stdout.includes(version)) throw new Error(`liqoctl is not ${version} but says: ${stdout.trim()}`);
    const count = readdirSync(join(folder, DEFINITIONS)).length;
    if (count === 0) throw new Error("Liqo's module has no definitions where they are looked for.");
    return `Liqo ${version} with ${count} definitions, kwok ${KWOK.version} and kube-scheduler ${kubernetes}`;
  },
};

process.exitCode = await runAssetsTool(tool, process.argv.slice(2));
