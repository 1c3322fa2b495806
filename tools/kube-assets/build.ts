import { bringOnce, buildProgram, type GoBuildJob } from "../go-assets/bring.ts";
import { linkFlags, PACKAGES, PROGRAMS } from "./recipe.ts";

/** Builds what is missing: whole programs stay. */
export function buildAssets(job: GoBuildJob, version: string): Promise<void> {
  const announcement = `Kubernetes ${version} is built into ${job.folder}; the first time takes ten minutes or more.`;
  return bringOnce(job, announcement, async () => {
    for (const name of PROGRAMS)
      await buildProgram(job, { name, package: PACKAGES[name], linkFlags: linkFlags(version) });
  });
}
