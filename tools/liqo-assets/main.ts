/** `npm run liqo:assets`: sees to it that Liqo, and what clusters need to run it, are on this machine. */
import { runAssetsTool } from "../go-assets/assets-tool.ts";
import { LIQO_ASSETS } from "./recipe.ts";

process.exitCode = await runAssetsTool(LIQO_ASSETS, process.argv.slice(2));
