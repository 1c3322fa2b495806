import { join } from "node:path";
import { bringOnce, buildProgram, go, type GoErrand } from "../go-assets/bring.ts";
import { copyDefinitions } from "../go-assets/copy-definitions.ts";
import { DEFINITIONS, liqoctl, MODULE } from "./recipe.ts";

/** Brings what is missing. */
export function fetchAssets(errand: GoErrand, version: string): Promise<void> {
  const { folder, say } = errand;
  const announcement = `Liqo ${version} goes to ${folder}; the first time takes some minutes.`;
  return bringOnce(errand, announcement, async () => {
    const count = copyDefinitions(join(await moduleFolder(errand), DEFINITIONS), join(folder, "crds"));
    say(`${count} definitions copied`);
    await buildProgram(errand, liqoctl(version));
  });
}

/** Where Go keeps Liqo's module, which it loads first. */
async function moduleFolder(errand: GoErrand): Promise<string> {
  await go(errand, ["mod", "download", MODULE]);
  return (await go(errand, ["list", "-m", "-f", "{{.Dir}}", MODULE])).trim();
}
