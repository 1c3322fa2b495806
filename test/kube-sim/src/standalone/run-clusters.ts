import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder, type Program } from "@resource-broker/runtime";
import { createKubeSim } from "../create-kube-sim.ts";
import type { KubeSimDeps } from "../kube-sim.ts";
import type { Flags } from "./flags.ts";
import { loadObjects } from "./load-objects.ts";

export interface RunClustersDeps extends KubeSimDeps {
  /** Tells people what there is. */
  readonly say: (line: string) => void;
}

/** Clusters with their kubeconfigs on disk, readable by their owner alone. */
export function runClusters(flags: Flags, deps: RunClustersDeps): Program {
  const sim = createKubeSim(deps);
  return {
    start: async () => {
      const objects = await loadObjects(flags.paths);
      makeFolder(flags.kubeconfigDir);
      for (const [index, name] of flags.clusters.entries()) {
        const port = flags.port === undefined ? {} : { port: flags.port + index };
        const cluster = await sim.addCluster({ name, behaves: flags.behaves, objects, ...port });
        const path = join(flags.kubeconfigDir, `${name}.yaml`);
        await writeFile(path, cluster.kubeconfig, { mode: 0o600 });
        deps.say(`${name}  ${cluster.url}  kubectl --kubeconfig ${path} get nodes`);
      }
    },
    stop: sim.stop,
  };
}
