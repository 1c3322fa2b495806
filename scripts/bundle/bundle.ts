import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { filesBeside } from "./files-beside.ts";
import { launcherText, readNodeFlags } from "./launcher.ts";
import { leanBuiltins } from "./lean-builtins.ts";
import { oneByte } from "./one-byte.ts";

interface Program {
  readonly input: string;
  readonly file: string;
  /** A script that starts it as `flags` say. Absent: Node needs none. */
  readonly launcher?: { readonly file: string; readonly flags: string };
}

/** What is shipped: one file for each program, with everything it needs but Node. */
const PROGRAMS: readonly Program[] = [
  { input: "packages/broker/src/main.ts", file: "broker.mjs" },
  {
    input: "packages/agent/src/main.ts",
    file: "agent.mjs",
    launcher: { file: "agent", flags: "packages/agent/node-flags.json" },
  },
  { input: "apps/cli/src/main.ts", file: "brokerctl.mjs" },
];

export interface BundleOptions {
  /** The repository's root. */
  readonly root: string;
  /** Where the files go. */
  readonly into: string;
  readonly minify?: boolean;
}

export interface BundledFile {
  readonly file: string;
  readonly bytes: number;
}

/** Bundles every program. A file of its own is read far faster, and takes less memory, than hundreds of modules. */
export async function bundle({ root, into, minify = false }: BundleOptions): Promise<BundledFile[]> {
  const written: BundledFile[] = [];
  for (const { input, file, launcher } of PROGRAMS) {
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
      sourcemap: false,
    });
    await build.close();
    for (const part of output) {
      const content = part.type === "chunk" ? part.code : part.source;
      written.push({ file: part.fileName, bytes: Buffer.byteLength(content) });
    }
    if (launcher === undefined) continue;
    const text = launcherText(file, await readNodeFlags(join(root, launcher.flags)));
    await writeFile(join(into, launcher.file), text, { mode: 0o755 });
    written.push({ file: launcher.file, bytes: text.length });
  }
  return written;
}
