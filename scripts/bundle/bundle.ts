import { join } from "node:path";
import { rolldown } from "rolldown";
import { filesBeside } from "./files-beside.ts";
import { leanHttp } from "./lean-http.ts";

/** What is shipped: one file for each program, with everything it needs but Node. */
const PROGRAMS = [
  { input: "packages/broker/src/main.ts", file: "broker.mjs" },
  { input: "packages/agent/src/main.ts", file: "agent.mjs" },
  { input: "apps/cli/src/main.ts", file: "brokerctl.mjs" },
] as const;

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
  for (const { input, file } of PROGRAMS) {
    const build = await rolldown({
      cwd: root,
      input,
      platform: "node",
      plugins: [filesBeside(), leanHttp()],
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
  }
  return written;
}
