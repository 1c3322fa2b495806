import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildArgs, buildProgram, type GoBuildJob, type Program } from "./bring.ts";
import type { Pins } from "./cache.ts";
import { copyFolder } from "./copy.ts";
import { moduleFolder, type PinnedModule } from "./pinned-module.ts";
import { BUILD_ENV } from "./run-go.ts";

/** What is taken out of a module as it is. */
export interface Copy {
  /** The name in the assets' folder. */
  readonly to: string;
  readonly module: PinnedModule;
  /** A folder of the module; or files, which become one: so YAML documents are joined. */
  readonly from: string | readonly string[];
}

/** All that a tool's folder holds. It is part of the folder's name: another list is another folder. */
export interface AssetsList {
  readonly copies: readonly Copy[];
  readonly programs: readonly Program[];
}

/** The names of what is in the finished folder. */
export function namesIn({ copies, programs }: AssetsList): string[] {
  return [...copies, ...programs].map((each) => ("to" in each ? each.to : each.name));
}

/** All that the result depends on. */
export function recipeOf({ goMod, goSum }: Pins, { copies, programs }: AssetsList): readonly unknown[] {
  return [goMod, goSum, BUILD_ENV, copies, programs, programs.map((program) => buildArgs(program, ""))];
}

/** Brings what is missing. */
export async function bringList(job: GoBuildJob, { copies, programs }: AssetsList): Promise<void> {
  for (const { to, module, from } of copies) {
    const [folder, target] = [await moduleFolder(job, module), join(job.folder, to)];
    if (typeof from === "string") copyFolder(join(folder, from), target);
    else writeFileSync(target, from.map((name) => readFileSync(join(folder, name), "utf8")).join("\n---\n"));
    job.log(`${to}: copied from ${module.path} ${module.version}`);
  }
  for (const program of programs) await buildProgram(job, program);
}
