import { Fault } from "@resource-broker/base";
import { createClusterApi } from "./api/create-cluster-api.ts";
import { startBehaviour } from "./behave/behaviour.ts";
import { populateNamespaces } from "./behave/populate-namespaces.ts";
import { CORE_DEFINITIONS } from "./core/core-definitions.ts";
import { serveCustomKinds, sharedKinds } from "./core/serve-custom-kinds.ts";
import type { ClusterOptions, KubeSim, KubeSimDeps, SimCluster } from "./kube-sim.ts";
import { seedObject, shiftableClock, startCluster } from "./server/cluster.ts";
import { createCredentials } from "./server/credentials.ts";

const CLUSTER_NAME = /^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/u;

/** Many simulated clusters in one process, each at its own address. */
export function createKubeSim(deps: KubeSimDeps): KubeSim {
  const clusters = new Map<string, SimCluster>();
  const starting = new Set<string>();
  const readKinds = sharedKinds();

  const build = async (options: ClusterOptions): Promise<SimCluster> => {
    const { name, port = 0, behaves = true, objects = [] } = options;
    const { randomBytes, log } = deps;
    const clock = shiftableClock(deps.clock);
    const credentials = createCredentials(name, deps);
    const core = createClusterApi({ clock, randomBytes, definitions: CORE_DEFINITIONS });
    const endKinds = serveCustomKinds(core, readKinds);
    const furnishing = populateNamespaces(core.api, credentials.ca);
    for (const object of objects) seedObject(core, object);
    const behaviour = behaves ? startBehaviour({ api: core.api, clock, log }) : undefined;
    const endBehaviour = (): void => {
      furnishing.stop();
      endKinds();
      behaviour?.stop();
      core.stop();
    };
    const parts = { name, core, credentials, clock, endBehaviour, ...(log === undefined ? {} : { log }) };
    const cluster = await startCluster(parts, port);
    return {
      ...cluster,
      stop: async () => {
        clusters.delete(name);
        await cluster.stop();
      },
    };
  };
  return {
    addCluster: async (options) => {
      const { name } = options;
      checkName(name);
      if (clusters.has(name) || starting.has(name))
        throw new Fault("already-exists", `there is a cluster "${name}" already; choose another name`);
      starting.add(name);
      try {
        const cluster = await build(options);
        clusters.set(name, cluster);
        return cluster;
      } finally {
        starting.delete(name);
      }
    },
    clusters: () => [...clusters.values()],
    stop: async () => {
      await Promise.all([...clusters.values()].map((cluster) => cluster.stop()));
    },
  };
}

function checkName(name: string): void {
  if (!CLUSTER_NAME.test(name) || name.length > 63)
    throw new Fault(
      "invalid",
      `"${name}" is no cluster name; use small letters, digits, dots and dashes, at most 63`,
    );
}
