/** `npm run kind:assets`: sees to it that kind, and the programs of its nodes, are on this machine. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { bringList, namesIn } from "../go-assets/assets-list.ts";
import { bringOnce } from "../go-assets/bring.ts";
import { readPins } from "../go-assets/cache.ts";
import { type AssetsTool, runAssetsTool } from "../go-assets/run-assets-tool.ts";
import { kubernetesVersion } from "../kube-assets/assets.ts";
import { GO_MODULE } from "../kube-assets/find-here.ts";
import { findKindHere } from "./assets.ts";
import { KIND, kindAssetsList } from "./recipe.ts";

const kubernetes = kubernetesVersion(readPins(GO_MODULE));
const list = kindAssetsList(kubernetes);

const tool: AssetsTool = {
  name: "kind-assets",
  script: "kind:assets",
  noGo: "Go is not installed, and kind is not on this machine. Install Go 1.26 or newer and run this again.",
  parts: namesIn(list),
  find: () => findKindHere(process.env),
  bring: (job) => {
    const announcement = `kind ${KIND.version} goes to ${job.folder}; the first time takes ten minutes or more.`;
    const whole = { ...job, goModule: GO_MODULE };
    return bringOnce(whole, announcement, () => bringList(whole, list));
  },
  describe: async (folder) => {
    const ask = async (name: string, ...args: readonly string[]): Promise<string> =>
      (await promisify(execFile)(join(folder, name), args)).stdout.trim();
    const output = [await ask("kind", "version"), await ask("kubeadm", "version", "-o", "short")];
    const [kind = "", kubeadm = ""] = output;
    if (!kind.includes(KIND.version)) throw new Error(`kind is not ${KIND.version} but says: ${kind}`);
    if (!kubeadm.includes(kubernetes)) throw new Error(`kubeadm is not ${kubernetes} but says: ${kubeadm}`);
    return `kind ${KIND.version} and the programs of its nodes, of Kubernetes ${kubernetes},`;
  },
};

process.exitCode = await runAssetsTool(tool, process.argv.slice(2));
