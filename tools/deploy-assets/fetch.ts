import { join } from "node:path";
import { bringOnce, buildProgram, type GoBuildJob } from "../go-assets/bring.ts";
import { copyFolder } from "../go-assets/copy.ts";
import { moduleFolder } from "../go-assets/pinned-module.ts";
import { DEFINITIONS, type HelmVersions, helm } from "./recipe.ts";

/** Brings what is missing. */
export function fetchAssets(job: GoBuildJob, versions: HelmVersions): Promise<void> {
  const { folder, log } = job;
  const announcement = `helm ${versions.helm} and definitions go to ${folder}; the first time takes some minutes.`;
  return bringOnce(job, announcement, async () => {
    for (const module of DEFINITIONS) {
      const { name, version } = module;
      const from = join(await moduleFolder(job, module), module.folder);
      const count = copyFolder(from, join(folder, name), ".yaml");
      log(`${name} ${version}: ${count} definitions copied`);
    }
    await buildProgram(job, helm(versions));
  });
}
