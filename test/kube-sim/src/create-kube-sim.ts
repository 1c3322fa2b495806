import { Fault } from "@resource-broker/base";
import { type ClusterCore, createClusterApi } from "./api/create-cluster-api.ts";
import { apiVersionOf } from "./api/registry.ts";
import { badRequest } from "./api/statuses.ts";
import { populateNamespaces, startBehaviour } from "./behave/behaviour.ts";
import { CORE_DEFINITIONS } from "./core/kinds.ts";
import { type ReadKinds, serveCustomKinds, sharedKinds } from "./crd/definition.ts";
import { type JsonObject, textAt } from "./json.ts";
import type { ClusterOptions, KubeSim, KubeSimDeps, SimCluster } from "./kube-sim.ts";
import { createCredentials, kubeconfigText } from "./server/credentials.ts";
import { createGate } from "./server/gate.ts";
import { createListener } from "./server/http.ts";
import { serve } from "./server/serve.ts";
import { createUsers } from "./server/users.ts";

const CLUSTER_NAME = /^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/u;

/** Many simulated clusters in one process, each at its own address. */
export function createKubeSim(deps: KubeSimDeps): KubeSim {
  const clusters = new Map<string, SimCluster>();
  const starting = new Set<string>();
  const readKinds = sharedKinds();
  return {
    addCluster: async (options) => {
      const { name } = options;
      checkName(name);
      if (clusters.has(name) || starting.has(name))
        throw new Fault("already-exists", `there is a cluster "${name}" already; choose another name`);
      starting.add(name);
      try {
        const { stop, ...started } = await startCluster(options, readKinds, deps);
        const cluster = {
          ...started,
          stop: async () => {
            clusters.delete(name);
            await stop();
          },
        };
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

/** Makes a cluster and puts it on the network. */
async function startCluster(
  { name, port = 0, behaves = true, objects = [] }: ClusterOptions,
  readKinds: ReadKinds,
  deps: KubeSimDeps,
): Promise<SimCluster> {
  const { clock, randomBytes, log } = deps;
  const credentials = createCredentials(name, deps);
  const core = createClusterApi({ clock, randomBytes, definitions: CORE_DEFINITIONS });
  const { api } = core;
  const endKinds = serveCustomKinds(core, readKinds);
  const furnishing = populateNamespaces(api, credentials.ca);
  const seed = (seeds: readonly JsonObject[]): void => {
    for (const object of seeds) seedObject(core, object);
  };
  seed(objects);
  const behaviour = behaves ? startBehaviour({ api, clock, log }) : undefined;
  const gate = createGate();
  const users = createUsers({ api, randomBytes, token: credentials.token });
  const serving = { api, clock, gate, users, ...(log === undefined ? {} : { log }) };
  const listener = createListener(credentials, (request, response) => void serve(request, response, serving));
  await listener.listen(port);
  const url = `https://127.0.0.1:${listener.port()}`;
  const { failNext, pause, resume } = gate;
  return {
    name,
    url,
    kubeconfig: kubeconfigText({ name, url, credentials }),
    token: credentials.token,
    api,
    seed,
    faults: {
      failNext,
      pause,
      resume,
      cut: listener.cut,
      down: listener.close,
      up: () => listener.listen(listener.port()),
      compact: api.compact,
    },
    stop: async () => {
      furnishing.stop();
      endKinds();
      behaviour?.stop();
      core.stop();
      gate.resume();
      await listener.close();
    },
  };
}

/** Objects of kinds that are not served are refused: a seed that silently vanishes would cost hours. */
function seedObject(core: ClusterCore, object: JsonObject): void {
  const apiVersion = textAt(object, "apiVersion");
  const kind = textAt(object, "kind");
  const definition = core.api
    .definitions()
    .find((one) => one.kind === kind && apiVersionOf(one) === apiVersion);
  if (definition === undefined)
    throw badRequest(
      `no kind "${kind}" in version "${apiVersion}" is served; seed its CustomResourceDefinition first`,
    );
  core.seed(definition, object);
}
