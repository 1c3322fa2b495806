import { access, constants, realpath, stat } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { promisify } from "node:util";

export type Found =
  | { readonly kind: "found"; readonly path: string }
  | { readonly kind: "missing"; readonly problem: string }
  | { readonly kind: "refused"; readonly problem: string };

/** The kubeconfigs that people have put into a folder, one for each cluster: `<cluster ID>.kubeconfig`. */
export interface Kubeconfigs {
  readonly of: (clusterId: string) => Promise<Found>;
}

const LABEL = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?";
const CLUSTER_ID = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);
const LIQO_ID = new RegExp(`^${LABEL}$`);
const MAX_LENGTH = 63;
const SHOWN_LENGTH = 80;

/** `node:fs/promises` has them as promises, and brings streams and readline into every agent. */
const files = { access: promisify(access), realpath: promisify(realpath), stat: promisify(stat) };

/** Stricter than the broker: what becomes part of a path must have nothing in it that a path could mean. */
export function isPlainClusterId(id: string): boolean {
  return id.length <= MAX_LENGTH && CLUSTER_ID.test(id);
}

/** A DNS label, as Liqo itself wants it. */
export function isLiqoId(id: string): boolean {
  return id.length <= MAX_LENGTH && LIQO_ID.test(id);
}

export function kubeconfigFolder(folder: string): Kubeconfigs {
  const root = resolve(folder);
  return {
    of: async (clusterId) => {
      const path = join(root, `${clusterId}.kubeconfig`);
      const isInside = dirname(path) === root && basename(path) === `${clusterId}.kubeconfig`;
      if (!isPlainClusterId(clusterId) || !isInside) {
        const shown = JSON.stringify(clusterId.slice(0, SHOWN_LENGTH));
        return { kind: "refused", problem: `${shown} is no cluster ID that a file can be named after` };
      }
      return await lookAt(path, root).catch(
        (): Found => ({
          kind: "missing",
          problem: `there is no readable ${path}: put the kubeconfig there that ${clusterId}'s administrator made with liqoctl generate peering-user`,
        }),
      );
    },
  };
}

/** Links within the folder are how Kubernetes mounts a Secret. Rejects when it cannot be read. */
async function lookAt(path: string, root: string): Promise<Found> {
  const [real, realRoot] = await Promise.all([files.realpath(path), files.realpath(root)]);
  if (!real.startsWith(`${realRoot}${sep}`)) {
    return {
      kind: "refused",
      problem: `${path} is a link that leads out of ${root}: put the file itself there`,
    };
  }
  if (!(await files.stat(real)).isFile()) return { kind: "refused", problem: `${path} is no file` };
  await files.access(real, constants.R_OK);
  return { kind: "found", path };
}
