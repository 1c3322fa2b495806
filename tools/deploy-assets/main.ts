/** `npm run deploy:assets`: sees to it that helm, and the definitions that our manifests build on, are on this machine. */
import { runAssetsTool } from "../go-assets/assets-tool.ts";
import { DEPLOY_ASSETS } from "./assets.ts";

process.exitCode = await runAssetsTool(DEPLOY_ASSETS, process.argv.slice(2));
