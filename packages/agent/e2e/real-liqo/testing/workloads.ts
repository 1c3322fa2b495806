import type { Resource } from "@resource-broker/kube";
import { until, WHOLE_PODS, type WholePod, type WorldCluster } from "@resource-broker/testkit";
import { TIMEOUT_MS } from "./directions.ts";
import type { Direction } from "./real-liqo-world.ts";

const DEPLOYMENTS: Resource<object> = {
  group: "apps",
  version: "v1",
  kind: "Deployment",
  plural: "deployments",
  isNamespaced: true,
};

export interface Workload {
  readonly namespace: string;
  readonly name: string;
  readonly replicas: number;
  readonly requests: Readonly<Record<string, string>>;
}

interface Placement {
  readonly node: string;
  /** Absent: the scheduler places its pods. */
  readonly by?: "selector" | "preference";
}

export async function deploy(
  { requester }: Pick<Direction, "requester">,
  workload: Workload,
  { node, by }: Placement,
): Promise<void> {
  const { namespace, name, replicas, requests } = workload;
  const labels = { app: name };
  const limits = Object.fromEntries(Object.entries(requests).filter(([key]) => key.includes("/")));
  const rule = { key: "kubernetes.io/hostname", operator: "In", values: [node] };
  const preferred = { weight: 100, preference: { matchExpressions: [rule] } };
  const spec = {
    containers: [{ name: "main", image: "example/app:1", resources: { requests, limits } }],
    terminationGracePeriodSeconds: 1,
    ...(by === "selector" && { nodeSelector: { "kubernetes.io/hostname": node } }),
    ...(by === "preference" && {
      affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [preferred] } },
    }),
  };
  await requester.client.create(DEPLOYMENTS, {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  });
}

/** Takes them away, and waits until none of them is left. */
export async function undeploy(
  { requester }: Direction,
  { namespace, name }: Pick<Workload, "namespace" | "name">,
): Promise<void> {
  await requester.client.delete(DEPLOYMENTS, { name, namespace });
  await untilPods(requester, namespace, (pods) => pods.length === 0);
}

/** Resolves when the pods of a namespace are as wanted. */
export function untilPods(
  cluster: WorldCluster,
  namespace: string,
  isAsWanted: (pods: readonly WholePod[]) => boolean,
): Promise<WholePod[]> {
  return until(
    `the pods of ${namespace} in ${cluster.name} are as wanted`,
    async () => {
      const pods: WholePod[] = [];
      await cluster.client.list(WHOLE_PODS, { namespace }, (pod) => void pods.push(pod));
      if (isAsWanted(pods)) return pods;
      throw new Error(`they are ${JSON.stringify(pods.map(shown))}`);
    },
    TIMEOUT_MS,
  );
}

function shown({ metadata, spec, status }: WholePod): string {
  return `${metadata.name} on ${spec?.nodeName}: ${status?.phase}${metadata.deletionTimestamp === undefined ? "" : ", leaving"}`;
}

/** Resolves when so many pods of the namespace run on this node, and at the provider too. */
export async function untilRunning(
  { requester, provider, at }: Direction,
  { namespace, replicas }: Workload,
  node: string,
): Promise<void> {
  const run = (pods: readonly WholePod[], isThere: (pod: WholePod) => boolean): boolean =>
    pods.filter((pod) => isThere(pod) && pod.status?.phase === "Running").length === replicas;
  await untilPods(requester, namespace, (pods) => run(pods, ({ spec }) => spec?.nodeName === node));
  const there = `${namespace}-${at.requester.liqoId}`;
  await untilPods(provider, there, (pods) =>
    run(pods, ({ spec }) => spec?.nodeName?.startsWith(provider.name) === true),
  );
}
