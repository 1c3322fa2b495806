import { Fault } from "@resource-broker/base";
import type { KubeClient, ObjectName, Resource } from "@resource-broker/kube";
import { type SimulatedControlPlanes, until, type WorldCluster } from "@resource-broker/testkit";

/** What can be done to the API servers of a world, whoever runs them. */
export interface ApiServerFaults {
  /** Nobody reaches it any more. */
  readonly down: (cluster: string) => Promise<void>;
  /** While it is down, these change what it keeps, and nobody sees it. */
  readonly put: (cluster: string, object: SeededObject) => Promise<void>;
  readonly remove: (
    cluster: string,
    resource: Resource<unknown>,
    name: Required<ObjectName>,
  ) => Promise<void>;
  /** Does nothing where it is not down. */
  readonly up: (cluster: string) => Promise<void>;
  /** It takes no objects of this kind until what is returned is called. */
  readonly refuseWrites: (cluster: WorldCluster, resource: Resource<unknown>) => Promise<() => Promise<void>>;
}

type SeededObject = Parameters<ReturnType<SimulatedControlPlanes["cluster"]>["seed"]>[0][number];

/** More than an agent tries before it is killed. */
const MANY = 100;

/** Injected by kube-sim. */
export function simulatedFaults(controlPlanes: SimulatedControlPlanes): ApiServerFaults {
  const isDown = new Set<string>();
  return {
    down: async (cluster) => {
      isDown.add(cluster);
      await controlPlanes.cluster(cluster).faults.down();
    },
    put: async (cluster, object) => controlPlanes.cluster(cluster).seed([object]),
    remove: async (cluster, resource, { name, namespace }) => {
      const { api } = controlPlanes.cluster(cluster);
      const definition = api.definitions().find(({ plural }) => plural === resource.plural);
      if (definition === undefined) throw new Error(`${resource.plural} are not served`);
      api.delete({ definition, namespace, name }, { dryRun: false, propagation: "Background" });
    },
    up: async (cluster) => {
      if (isDown.delete(cluster)) await controlPlanes.cluster(cluster).faults.up();
    },
    refuseWrites: async ({ name, client }, resource) => {
      const { faults } = controlPlanes.cluster(name);
      faults.failNext({ times: MANY, status: 500, verb: "patch", plural: resource.plural });
      return async () => {
        // It fails as often as it was told to, whoever asks.
        await until("it takes writes again", () => isNotFound(client, resource));
      };
    },
  };
}

async function isNotFound(client: KubeClient, resource: Resource<unknown>): Promise<true | undefined> {
  const name = { name: "nothing", namespace: "default" };
  const end = await client
    .patch(resource, { name, patch: { kind: "merge", body: {} } })
    .catch((error: unknown) => error);
  return (end instanceof Fault && end.code === "not-found") || undefined;
}
