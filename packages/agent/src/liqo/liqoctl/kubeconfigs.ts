import { mkdtemp, readFile, realpath, rmSync, stat, writeFile } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { promisify } from "node:util";
import { Fault } from "@resource-broker/base";
import { isClusterId } from "@resource-broker/domain";
import type { Environment, KubeConfig } from "@resource-broker/kube";
import type { Obstacle } from "../requester/steps.ts";
import { foreignText, readForeignKubeconfig } from "./foreign-kubeconfig.ts";
import type { Access } from "./run-liqoctl.ts";

export interface FoundKubeconfig {
  readonly kind: "found";
  readonly path: string;
  readonly access: KubeConfig;
}

export type KubeconfigLookup =
  | FoundKubeconfig
  /** KubeconfigMissing: no such file. The others: the cluster ID, or something in the file, is not allowed. */
  | {
      readonly kind: "refused";
      readonly reason: "KubeconfigMissing" | "ClusterIDRefused" | "KubeconfigRefused";
      readonly message: string;
    };

/** The kubeconfigs in the operator's folder, one for each cluster: `<cluster ID>.kubeconfig`. */
export interface Kubeconfigs {
  readonly of: (clusterId: string) => Promise<KubeconfigLookup>;
  /** Changes when the file is replaced; empty: there is no file. */
  readonly fingerprintOf: (clusterId: string) => Promise<string>;
}

const LIQO_ID = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
const MAX_LENGTH = 63;
const SHOWN_LENGTH = 80;
const MESSAGE_LENGTH = 500;
/** Far more than a CA bundle needs; the file is parsed at once. */
const MAX_BYTES = 262_144;

/** `node:fs/promises` would load streams and readline into every agent. */
const files = {
  mkdtemp: promisify(mkdtemp),
  readFile: promisify(readFile),
  realpath: promisify(realpath),
  stat: promisify(stat),
  writeFile: promisify(writeFile),
};

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
        const message = `${shown} is not a cluster ID that can be used as a file name`;
        return { kind: "refused", reason: "ClusterIDRefused", message };
      }
      try {
        const access = await readForeignKubeconfig(await textAt(path, root), path);
        return { kind: "found", path, access };
      } catch (error) {
        if (!(error instanceof Error && "syscall" in error)) {
          return { kind: "refused", reason: "KubeconfigRefused", message: `${path}: ${problemIn(error)}` };
        }
        const message = `there is no readable ${path}: put the kubeconfig there that ${clusterId}'s administrator made with liqoctl generate peering-user`;
        return { kind: "refused", reason: "KubeconfigMissing", message };
      }
    },
  };
}

/** Links inside the folder are allowed: Kubernetes mounts Secrets that way. */
async function textAt(path: string, root: string): Promise<string> {
  const [real, realRoot] = await Promise.all([files.realpath(path), files.realpath(root)]);
  if (!real.startsWith(`${realRoot}${sep}`)) {
    throw new Fault("invalid", "it is a link that leads out of the folder: put the file itself there");
  }
  const found = await files.stat(real);
  if (!found.isFile()) throw new Fault("invalid", "it is not a file");
  if (found.size > MAX_BYTES) throw new Fault("invalid", `it is larger than ${MAX_BYTES} bytes`);
  return await files.readFile(real, "utf8");
}

/** Names in the file are foreign: the message is made safe for a status. */
function problemIn(error: unknown): string {
  // Deeply nested brackets, for example, exceed the parser's limits.
  if (!(error instanceof Fault)) return "it cannot be read as YAML";
  return error.message.slice(0, MESSAGE_LENGTH).replaceAll(/[^\u0020-\u007e]/gu, "?");
}

/** Writes a temporary file that only this user can read, for the time of one call. */
export interface PrivateFiles {
  readonly withFile: <T>(text: string, use: (path: string) => Promise<T>) => Promise<T>;
  /** Removes all remaining files. */
  readonly stop: () => void;
}

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

export interface KubeconfigDeps {
  readonly kubeconfigs: Kubeconfigs;
  readonly withFile: PrivateFiles["withFile"];
}

interface OwnCluster {
  /** The cluster ID of this cluster at the broker. */
  readonly clusterId: string;
  /** How liqoctl reaches this cluster if the kubeconfig folder has no kubeconfig for it. */
  readonly ownAccess: Access;
}

type Result = Promise<Obstacle | undefined>;

/** Lends liqoctl new files with what was checked, for the time of one call. */
export function lentKubeconfigs(own: OwnCluster, { kubeconfigs, withFile }: KubeconfigDeps) {
  const fingerprints = new Map<string, string>();
  const fingerprintOf = async (clusterId: string): Promise<string> =>
    (await Promise.all([clusterId, own.clusterId].map(kubeconfigs.fingerprintOf))).join();
  const withFileOf = ({ access }: FoundKubeconfig, act: (path: string) => Result): Result =>
    withFile(foreignText(access), act);
  return {
    withFileOf,
    withProvider: async (clusterId: string, act: (provider: FoundKubeconfig) => Result): Result => {
      fingerprints.set(clusterId, await fingerprintOf(clusterId));
      const found = await kubeconfigs.of(clusterId);
      return found.kind === "found" ? await act(found) : { reason: found.reason, message: found.message };
    },
    /** A kubeconfig for the own cluster in the folder is checked as strictly as the others. */
    withOwn: async (act: (local: Access) => Result): Result => {
      const found = await kubeconfigs.of(own.clusterId);
      if (found.kind === "found") return await withFileOf(found, (kubeconfig) => act({ kubeconfig }));
      const { reason, message } = found;
      if (reason !== "KubeconfigRefused") return await act(own.ownAccess);
      return { reason, message: `${message}; or remove it, and liqoctl uses the agent's --kubeconfig` };
    },
    /** True when a kubeconfig was replaced since the last attempt with this cluster. */
    isNew: async (clusterId: string): Promise<boolean> => {
      const before = fingerprints.get(clusterId);
      return before !== undefined && before !== (await fingerprintOf(clusterId));
    },
  };
}
