import { join } from "node:path";
import { bringOnce, buildProgram, go, type GoErrand } from "../go-assets/bring.ts";
import { copyDefinitions } from "../go-assets/copy-definitions.ts";
import { DEFINITIONS, helm, type HelmVersions, moduleFolder } from "./recipe.ts";

/** Brings what is missing. */
export function fetchAssets(errand: GoErrand, versions: HelmVersions): Promise<void> {
  const { folder, say } = errand;
  const announcement = `helm ${versions.helm} and definitions go to ${folder}; the first time takes some minutes.`;
  return bringOnce(errand, announcement, async () => {
    for (const module of DEFINITIONS) {
      const { name, path, version } = module;
      const said = await go(errand, ["mod", "download", "-json", `${path}@${version}`]);
      const count = copyDefinitions(join(moduleFolder(module, said), module.folder), join(folder, name));
      say(`${name} ${version}: ${count} definitions copied`);
    }
    await buildProgram(errand, helm(versions));
  });
}
