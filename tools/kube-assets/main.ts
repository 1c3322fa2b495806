/** `npm run kube:assets`: sees to it that a real control plane and its kubectl are on this machine. */
import { runAssetsTool } from "../go-assets/assets-tool.ts";
import { KUBE_ASSETS } from "./assets.ts";

process.exitCode = await runAssetsTool(KUBE_ASSETS, process.argv.slice(2));
