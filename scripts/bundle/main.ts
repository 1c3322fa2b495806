/** `npm run bundle`: the programs as single files in dist/. `--minify` makes them smaller and their traces unreadable. */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { bundle } from "./bundle.ts";

const root = join(import.meta.dirname, "../..");
const { values } = parseArgs({
  options: {
    into: { type: "string", default: join(root, "dist") },
    minify: { type: "boolean", default: false },
  },
});

for (const { file, bytes } of await bundle({ root, into: values.into, minify: values.minify })) {
  console.log(`${join(values.into, file)}  ${Math.round(bytes / 1000)} kB`);
}
