import { createHash } from "node:crypto";
import { glob, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { build } from "vite";

/**
 * Builds the pages into dist/, each file also as .gz and .br, so that the broker compresses nothing. Does nothing when
 * dist/ was made from exactly these sources; `--force` builds all the same.
 */
const HERE = fileURLToPath(new URL(".", import.meta.url));
const DIST = join(HERE, "dist");
const HASH_FILE = ".sources";
/** Built beside, then put in place: a broker that starts meanwhile, or a second build, never sees half of it. */
const SCRATCH = fileURLToPath(new URL(`../../node_modules/.cache/dashboard-${process.pid}`, import.meta.url));
const SOURCES = ["index.html", "package.json", "build.ts", "public/**/*", "src/**/*"];
/** The domain and the contract are compiled in. */
const SHARED = ["../../packages/contract/src/**/*.ts", "../../packages/base/src/**/*.ts"];
const LIMIT_GZIP_KB = 250;

const squeeze = { gzip: promisify(gzip), brotli: promisify(brotliCompress) };

async function sourcesHash(): Promise<string> {
  const names: string[] = [];
  for await (const entry of glob([...SOURCES, ...SHARED], { cwd: HERE, withFileTypes: true })) {
    if (entry.isFile() && !entry.name.endsWith(".test.ts")) names.push(join(entry.parentPath, entry.name));
  }
  const hash = createHash("sha256");
  for (const name of names.toSorted()) hash.update(name.slice(HERE.length)).update(await readFile(name));
  return hash.digest("hex");
}

async function compress(folder: string): Promise<number> {
  let firstLoad = 0;
  for await (const entry of glob("**/*.{html,js,css,svg}", { cwd: folder, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    const content = await readFile(file);
    const zipped = await squeeze.gzip(content, { level: 9 });
    firstLoad += zipped.length;
    await writeFile(`${file}.gz`, zipped);
    const brotli = await squeeze.brotli(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
    await writeFile(`${file}.br`, brotli);
    say(`  ${entry.name}  ${kb(content.length)}, gzip ${kb(zipped.length)}, brotli ${kb(brotli.length)}`);
  }
  return firstLoad;
}

function kb(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function buildPages(folder: string): Promise<void> {
  await build({
    root: HERE,
    configFile: false,
    logLevel: "warn",
    build: {
      outDir: folder,
      emptyOutDir: true,
      target: "es2023",
      // Inlined assets and scripts would need exceptions in the Content-Security-Policy.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      // A slow machine is nothing to warn of.
      rolldownOptions: { checks: { bundlerTimings: false } },
    },
  });
  const firstLoad = await compress(folder);
  say(`  first load ${kb(firstLoad)} gzip, at most ${LIMIT_GZIP_KB} kB`);
  if (firstLoad > LIMIT_GZIP_KB * 1000) throw new Error(`first load is more than ${LIMIT_GZIP_KB} kB gzip`);
}

async function putInPlace(folder: string): Promise<void> {
  const former = `${SCRATCH}-former`;
  await rename(DIST, former).catch(() => undefined);
  // Another build that was quicker has put the same pages there.
  await rename(folder, DIST).catch(() => undefined);
  await rm(former, { recursive: true, force: true });
}

const sourceHash = await sourcesHash();
const built = await readFile(join(DIST, HASH_FILE), "utf8").catch(() => "");
if (built === sourceHash && !process.argv.includes("--force")) say("dashboard: up to date");
else {
  say("dashboard: building");
  try {
    await mkdir(SCRATCH, { recursive: true });
    await buildPages(SCRATCH);
    await writeFile(join(SCRATCH, HASH_FILE), sourceHash);
    await putInPlace(SCRATCH);
  } finally {
    await rm(SCRATCH, { recursive: true, force: true });
  }
}
