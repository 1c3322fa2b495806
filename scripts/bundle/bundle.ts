import { readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { type OutputAsset, type OutputChunk, type Plugin, rolldown } from "rolldown";
import { leanBuiltins } from "./lean-builtins.ts";
import { oneByte } from "./one-byte.ts";
import { licenseTexts, packagesOf } from "./packages.ts";
import { PROGRAMS, type Program } from "./programs.ts";

/** The flags of V8 that a program is measured with; a container can name them in its command just as well. */
export async function readNodeFlags(file: string): Promise<readonly string[]> {
  const flags: unknown = JSON.parse(await readFile(file, "utf8"));
  if (isFlags(flags)) return flags;
  throw new Error(`${file} must be a list of flags for Node`);
}

function isFlags(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((flag) => typeof flag === "string" && SAFE.test(flag));
}

/** They are written into a shell script as they are. */
const SAFE = /^--[\w=-]+$/;

interface Launch {
  readonly flags?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** A script beside the bundle that starts it as it is measured, from wherever it is linked to. */
export function launcherText(bundle: string, { flags = [], environment = {} }: Launch = {}): string {
  const exports = Object.entries(environment).map(
    ([name, value]) => `export ${name}="\${${name}:-${value}}"`,
  );
  const node = ["node", ...flags].join(" ");
  const start = `exec ${node} "$(dirname "$(readlink -f "$0")")/${bundle}" "$@"`;
  return ["#!/bin/sh", ...exports, start, ""].join("\n");
}

const RESOLVED_FILE = /import\.meta\.resolve\("([^"]+\.json)"\)/g;

/**
 * A program may find a file of a package by `import.meta.resolve("<package>/<file>.json")`. There are no packages
 * beside a bundle, so the file itself is put there.
 */
function filesBeside(): Plugin {
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

export interface BundleOptions {
  /** The repository's root. */
  readonly root: string;
  /** Where the files go. */
  readonly into: string;
  readonly minify?: boolean;
  /** Absent: all there are. */
  readonly programs?: readonly Program[];
}

export interface BundledFile {
  readonly file: string;
  readonly bytes: number;
  /** The files it was made from. None: it was copied, or written by hand. */
  readonly sources: readonly string[];
}

/** Bundles every program. A file of its own is read far faster, and takes less memory, than hundreds of modules. */
export async function bundle(options: BundleOptions): Promise<BundledFile[]> {
  const written: BundledFile[] = [];
  for (const program of options.programs ?? PROGRAMS) {
    const bundled = await bundleOne(program, options);
    const sources = bundled.flatMap((each) => each.sources);
    written.push(...bundled, await writeLicenses(program, options, sources));
    written.push(await writeLauncher(program, options), ...(await packFolder(program, options)));
  }
  return written;
}

async function bundleOne({ input, file }: Program, { root, into, minify = false }: BundleOptions) {
  const build = await rolldown({
    cwd: root,
    input,
    platform: "node",
    plugins: [filesBeside(), leanBuiltins(), oneByte()],
    // A warning here is a module that will not be found, or a call that will not work, at run time.
    onwarn: (warning) => {
      throw new Error(`${file}: ${warning.message}`);
    },
  });
  const { output } = await build.write({
    file: join(into, file),
    format: "esm",
    codeSplitting: false,
    minify,
    // An eighth of the text, which Node keeps in memory for life; licenses stay.
    comments: { legal: true, annotation: false, jsdoc: false },
    sourcemap: false,
  });
  await build.close();
  return output.map(asWritten);
}

function asWritten(part: OutputChunk | OutputAsset): BundledFile {
  const content = part.type === "chunk" ? part.code : part.source;
  const sources = part.type === "chunk" ? part.moduleIds : [];
  return { file: part.fileName, bytes: Buffer.byteLength(content), sources };
}

async function writeLicenses({ name }: Program, { into }: BundleOptions, sources: readonly string[]) {
  const file = `${name}.licenses.txt`;
  const text = await licenseTexts(await packagesOf(sources));
  await writeFile(join(into, file), text);
  return { file, bytes: Buffer.byteLength(text), sources: [] };
}

async function packFolder({ packs }: Program, { root, into }: BundleOptions): Promise<BundledFile[]> {
  if (packs === undefined) return [];
  const folder = join(root, packs.folder);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
    .toSorted();
  const files = await Promise.all(
    paths.map(
      async (path) => [path.split(sep).join("/"), await readFile(join(folder, path), "utf8")] as const,
    ),
  );
  const text = JSON.stringify(Object.fromEntries(files));
  await writeFile(join(into, packs.file), text);
  return [{ file: packs.file, bytes: Buffer.byteLength(text), sources: [] }];
}

/** A script of the program's name, which starts it. */
async function writeLauncher(program: Program, { root, into }: BundleOptions) {
  const { name, file, nodeFlags, environment = {} } = program;
  const flags = nodeFlags === undefined ? [] : await readNodeFlags(join(root, nodeFlags));
  const text = launcherText(file, { flags, environment });
  await writeFile(join(into, name), text, { mode: 0o755 });
  return { file: name, bytes: text.length, sources: [] };
}
