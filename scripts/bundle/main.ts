/**
 * `npm run bundle`: the programs as single files in dist/, and the dashboard's pages beside them. `--program=agent` makes
 * only that one. `--minify` makes them smaller and their traces unreadable.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { bundle } from "./bundle.ts";
import { bundlePages } from "./pages.ts";
import { programsNamed } from "./programs.ts";

const root = join(import.meta.dirname, "../..");
const { values } = parseArgs({
  options: {
    into: { type: "string", default: join(root, "dist") },
    minify: { type: "boolean", default: false },
    program: { type: "string", multiple: true, default: [] },
  },
});

const { into, minify } = values;
const programs = programsNamed(values.program);
const say = (name: string, bytes: number): void =>
  console.log(`${join(into, name)}  ${Math.round(bytes / 1000)} kB`);

for (const { file, bytes } of await bundle({ root, into, minify, programs })) say(file, bytes);
const pages = programs.some(({ hasPages }) => hasPages) ? await bundlePages({ root, into }) : undefined;
if (pages !== undefined) say(pages.folder, pages.bytes);
