import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "rolldown";

const RESOLVED_FILE = /import\.meta\.resolve\("([^"]+\.json)"\)/g;

/**
 * A program may find a file of a package by `import.meta.resolve("<package>/<file>.json")`. There are no packages
 * beside a bundle, so the file itself is put there.
 */
export function filesBeside(): Plugin {
  return {
    name: "files-beside",
    transform: {
      filter: { code: RESOLVED_FILE },
      async handler(code, id) {
        for (const [, specifier = ""] of code.matchAll(RESOLVED_FILE)) {
          const found = await this.resolve(specifier, id);
          if (found === null) throw new Error(`${id}: there is no ${specifier}`);
          const source = await readFile(found.id.startsWith("file:") ? fileURLToPath(found.id) : found.id);
          this.emitFile({ type: "asset", fileName: basename(found.id), source });
        }
        return code.replaceAll(
          RESOLVED_FILE,
          (_, specifier: string) => `new URL("./${basename(specifier)}", import.meta.url).href`,
        );
      },
    },
  };
}
