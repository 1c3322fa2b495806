import { mkdtemp, rmSync, writeFile } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { Fault } from "@resource-broker/base";
import type { Environment } from "@resource-broker/kube";

/** Writes a temporary file that only this user can read, for the time of one call. */
export interface PrivateFiles {
  readonly withFile: <T>(text: string, use: (path: string) => Promise<T>) => Promise<T>;
  /** Removes all remaining files. */
  readonly stop: () => void;
}

/** `node:fs/promises` would load streams and readline into every agent. */
const files = { mkdtemp: promisify(mkdtemp), writeFile: promisify(writeFile) };

export function privateFiles(env: Environment): PrivateFiles {
  const folders = new Set<string>();
  const remove = (folder: string): void => {
    rmSync(folder, { recursive: true, force: true });
    folders.delete(folder);
  };
  return {
    withFile: async (text, use) => {
      const root = env["TMPDIR"] ?? "/tmp";
      // mkdtemp creates it with mode 0700.
      const folder = await files.mkdtemp(join(root, "liqo-kubeconfig-")).catch((error: unknown) => {
        throw new Fault("invalid", `no file can be written in ${root}: make it writable, or set TMPDIR`, {
          cause: error,
        });
      });
      folders.add(folder);
      try {
        const path = join(folder, "kubeconfig");
        await files.writeFile(path, text, { mode: 0o600, flag: "wx" });
        return await use(path);
      } finally {
        remove(folder);
      }
    },
    stop: () => {
      for (const folder of folders) remove(folder);
    },
  };
}
