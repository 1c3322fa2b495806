/** `make sbom`: for each program a list of all that it is made of (CycloneDX 1.5, JSON), in dist/. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { listEverything, PROGRAMS, programSbom, readLockfile } from "./program-sbom.ts";

const root = join(import.meta.dirname, "../..");
const { values } = parseArgs({ options: { into: { type: "string", default: join(root, "dist") } } });

const everything = await listEverything(root);
const lockfile = await readLockfile(root);
await mkdir(values.into, { recursive: true });
for (const program of PROGRAMS) {
  const sbom = programSbom(everything, lockfile, program);
  const file = join(values.into, program.file);
  await writeFile(file, `${JSON.stringify(sbom, undefined, 2)}\n`);
  console.log(`${file}  ${sbom.components.length} components`);
}
