import { CONFIG_MAPS, type KubeClient, NAMESPACES, PODS, SERVICE_ACCOUNTS } from "@resource-broker/kube";
import type { ClusterApi, JsonValue, SimCluster } from "@resource-broker/kube-sim";
import { until } from "@resource-broker/testkit";

export type KindName = "pods" | "configmaps";
export const KIND_NAMES: readonly KindName[] = ["pods", "configmaps"];

/** Where everything happens. */
export const NAMESPACE = "survival";

/** The objects of a server, and its own opinion of them. */
export interface Objects {
  /** Creates it, or changes it if it is there. */
  readonly put: (kind: KindName, name: string, value: string) => Promise<void>;
  readonly remove: (kind: KindName, name: string) => Promise<void>;
  /** resourceVersion by name. */
  readonly versions: (kind: KindName) => Promise<ReadonlyMap<string, string>>;
}

function objectOf(kind: KindName, name: string, value: string) {
  const metadata = { name, namespace: NAMESPACE, annotations: { value } };
  const base = { apiVersion: "v1", metadata };
  if (kind === "configmaps") return { ...base, kind: "ConfigMap", data: { value } };
  return { ...base, kind: "Pod", spec: { containers: [{ name: "main", image: "example/app:1" }] } };
}

/** Without HTTP: objects change also while nobody can reach the server. */
export function simObjects({ api, seed }: Pick<SimCluster, "api" | "seed">): Objects {
  const target = (plural: KindName) => ({ definition: definitionOf(api, plural), namespace: NAMESPACE });
  seed([{ apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } }]);
  return {
    put: (kind, name, value) => {
      seed([objectOf(kind, name, value)]);
      return Promise.resolve();
    },
    remove: (kind, name) => {
      api.delete({ ...target(kind), name }, { dryRun: false });
      return Promise.resolve();
    },
    versions: (kind) => {
      const { items } = api.list(target(kind), {});
      return Promise.resolve(
        new Map(items.map(({ metadata }) => [textIn(metadata, "name"), textIn(metadata, "resourceVersion")])),
      );
    },
  };
}

function textIn(metadata: JsonValue | undefined, field: string): string {
  const isObject = typeof metadata === "object" && metadata !== null && !Array.isArray(metadata);
  const text = isObject ? Object.entries(metadata).find(([name]) => name === field)?.[1] : undefined;
  return typeof text === "string" ? text : "";
}

function definitionOf(api: ClusterApi, plural: KindName) {
  const found = api.definitions().find((each) => each.group === "" && each.plural === plural);
  if (found === undefined) throw new Error(`kube-sim serves no ${plural}`);
  return found;
}

const RESOURCES = { pods: PODS, configmaps: CONFIG_MAPS } as const;

/** Through a client whose way is not disturbed, of a server that may be away: whatever fails has not happened. */
export async function clientObjects(client: KubeClient): Promise<Objects> {
  await client.create(NAMESPACES, { metadata: { name: NAMESPACE } });
  await until("pods can be created", () =>
    client.find(SERVICE_ACCOUNTS, { name: "default", namespace: NAMESPACE }),
  );
  return {
    put: async (kind, name, value) => {
      const options = { fieldManager: "chaos", force: true };
      await client.apply<object>(RESOURCES[kind], objectOf(kind, name, value), options);
    },
    remove: (kind, name) => client.delete(RESOURCES[kind], { name, namespace: NAMESPACE }),
    versions: async (kind) => {
      const found = new Map<string, string>();
      await client.list<Versioned>(RESOURCES[kind], { namespace: NAMESPACE }, ({ metadata }) => {
        found.set(metadata?.name ?? "", metadata?.resourceVersion ?? "");
      });
      return found;
    },
  };
}

/** What of an object is compared. */
export interface Versioned {
  readonly metadata?: {
    readonly name?: string;
    readonly namespace?: string;
    readonly resourceVersion?: string;
  };
}
