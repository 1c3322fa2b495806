/** `npm run kind:assets`: sees to it that kind, and the programs of its nodes, are on this machine. */
import { runAssetsTool } from "../go-assets/assets-tool.ts";
import { KIND_ASSETS } from "./assets.ts";

process.exitCode = await runAssetsTool(KIND_ASSETS, process.argv.slice(2));
