import { readFile, realpath, stat } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { promisify } from "node:util";
import { Fault } from "@resource-broker/base";
import { isClusterId } from "@resource-broker/domain";
import type { ForeignAccess } from "./foreign-access.ts";
import { readForeignKubeconfig } from "./foreign-kubeconfig.ts";

export type KubeconfigLookup =
  | { readonly kind: "found"; readonly path: string; readonly access: ForeignAccess }
  | { readonly kind: "missing"; readonly problem: string }
  /** The cluster ID is invalid, or the file holds something that is not allowed. */
  | {
      readonly kind: "refused";
      readonly reason: "ClusterIDRefused" | "KubeconfigRefused";
      readonly problem: string;
    };

/** The kubeconfigs in the operator's folder, one for each cluster: `<cluster ID>.kubeconfig`. */
export interface Kubeconfigs {
  readonly of: (clusterId: string) => Promise<KubeconfigLookup>;
  /** Changes when the file is replaced; empty: there is no file. */
  readonly fingerprintOf: (clusterId: string) => Promise<string>;
}

const LABEL = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?";
const LIQO_ID = new RegExp(`^${LABEL}$`);
const MAX_LENGTH = 63;
const SHOWN_LENGTH = 80;
/** Far more than a CA bundle needs; the file is parsed at once. */
const MAX_BYTES = 262_144;

/** `node:fs/promises` would load streams and readline into every agent. */
const files = { readFile: promisify(readFile), realpath: promisify(realpath), stat: promisify(stat) };

/** A DNS label, as Liqo itself wants it. */
export function isLiqoId(id: string): boolean {
  return id.length <= MAX_LENGTH && LIQO_ID.test(id);
}

export function kubeconfigFolder(folder: string): Kubeconfigs {
  const root = resolve(folder);
  /** Undefined: the ID cannot be used in a file name. */
  const pathOf = (clusterId: string): string | undefined => {
    const path = join(root, `${clusterId}.kubeconfig`);
    const isInside = dirname(path) === root && basename(path) === `${clusterId}.kubeconfig`;
    return isClusterId(clusterId) && isInside ? path : undefined;
  };
  return {
    fingerprintOf: async (clusterId) => {
      const path = pathOf(clusterId);
      const found = path === undefined ? undefined : await files.stat(path).catch(() => undefined);
      return found === undefined ? "" : [found.ino, found.mtimeMs, found.size].join(" ");
    },
    of: async (clusterId) => {
      const path = pathOf(clusterId);
      if (path === undefined) {
        const shown = JSON.stringify(clusterId.slice(0, SHOWN_LENGTH));
        const problem = `${shown} is not a cluster ID that can be used as a file name`;
        return { kind: "refused", reason: "ClusterIDRefused", problem };
      }
      const read = await textAt(path, root).catch(() => undefined);
      if (read === undefined) {
        return {
          kind: "missing",
          problem: `there is no readable ${path}: put the kubeconfig there that ${clusterId}'s administrator made with liqoctl generate peering-user`,
        };
      }
      return "problem" in read ? unusable(read.problem) : await understood(read.text, path);
    },
  };
}

/** Other programs get a new file with the checked fields, never this one. */
async function understood(text: string, path: string): Promise<KubeconfigLookup> {
  try {
    return { kind: "found", path, access: await readForeignKubeconfig(text) };
  } catch (error) {
    // Deeply nested brackets, for example, exceed the parser's limits.
    return unusable(`${path}: ${error instanceof Fault ? error.message : "it cannot be read as YAML"}`);
  }
}

function unusable(problem: string): KubeconfigLookup {
  return { kind: "refused", reason: "KubeconfigRefused", problem };
}

/** Links inside the folder are allowed: Kubernetes mounts Secrets that way. Rejects when the file cannot be read. */
async function textAt(
  path: string,
  root: string,
): Promise<{ readonly text: string } | { readonly problem: string }> {
  const [real, realRoot] = await Promise.all([files.realpath(path), files.realpath(root)]);
  if (!real.startsWith(`${realRoot}${sep}`)) {
    return { problem: `${path} is a link that leads out of ${root}: put the file itself there` };
  }
  const found = await files.stat(real);
  if (!found.isFile()) return { problem: `${path} is not a file` };
  if (found.size > MAX_BYTES) return { problem: `${path} is larger than ${MAX_BYTES} bytes` };
  return { text: await files.readFile(real, "utf8") };
}
