import { bringOnce, buildProgram, type GoErrand } from "../go-assets/bring.ts";
import { linkFlags, PACKAGES, PROGRAMS } from "./recipe.ts";

/** Builds what is missing: whole programs stay. */
export function buildAssets(errand: GoErrand, version: string): Promise<void> {
  const announcement = `Kubernetes ${version} is built into ${errand.folder}; the first time takes ten minutes or more.`;
  return bringOnce(errand, announcement, async () => {
    for (const name of PROGRAMS)
      await buildProgram(errand, { name, package: PACKAGES[name], linkFlags: linkFlags(version) });
  });
}
