import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Instruction, readDockerfile, wholeStage } from "../../../../images/read-dockerfile.ts";

const ROOT = join(import.meta.dirname, "../../../../..");

/** What the images are made of, without an engine that makes them. */
export interface Images {
  readonly image: (program: string) => Promise<readonly Instruction[]>;
  /** Where a path of the build stage is: what it wrote to /out, and the repository in /src. */
  readonly built: (path: string) => string;
}

/** Bundles everything into that folder, as the build stages do. */
export async function buildImages(out: string): Promise<Images> {
  await promisify(execFile)(process.execPath, [join(ROOT, "scripts/bundle/main.ts"), `--into=${out}`]);
  return {
    image: async (program) => {
      const text = await readFile(join(ROOT, `deploy/images/${program}.Dockerfile`), "utf8");
      return wholeStage(readDockerfile(text), program);
    },
    built: (path) => {
      if (path.startsWith("/out/")) return join(out, path.slice("/out".length));
      if (path.startsWith("/src/")) return join(ROOT, path.slice("/src".length));
      throw new Error(`the build stage makes no ${path}`);
    },
  };
}
