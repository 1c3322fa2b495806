import { type GoPlace, go } from "./run-go.ts";

/** A module that Go loads by its name. Its own go.sum, which the checksum covers, pins what it needs in turn. */
export interface PinnedModule {
  readonly path: string;
  readonly version: string;
  /** Go's checksum of the module's zip: what go.sum is for the modules of a build. */
  readonly sum: string;
}

/** Where Go keeps a module, which it loads first. */
export async function moduleFolder(place: GoPlace, module: PinnedModule): Promise<string> {
  const output = await go(place, ["mod", "download", "-json", `${module.path}@${module.version}`]);
  return folderInOutput(module, output);
}

/** From what `go mod download -json` says of a module; throws where it is not the pinned one. */
export function folderInOutput(module: PinnedModule, output: string): string {
  const reply: unknown = JSON.parse(output);
  const [folder, sum] = [textIn(reply, "Dir"), textIn(reply, "Sum")];
  if (folder === undefined) throw new Error(`Go does not say where ${module.path} is: ${output.trim()}`);
  if (sum !== module.sum) {
    throw new Error(
      `${module.path}@${module.version} has the checksum ${sum}, not ${module.sum}: not taken.`,
    );
  }
  return folder;
}

function textIn(value: unknown, name: string): string | undefined {
  const found = Object.entries(value ?? {}).find(([key]) => key === name)?.[1] as unknown;
  return typeof found === "string" ? found : undefined;
}
