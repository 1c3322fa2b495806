import { join } from "node:path";
import type { KubeClient, Resource } from "@resource-broker/kube";
import {
  PROVIDER_INSTRUCTIONS,
  RESERVATION_INSTRUCTIONS,
  RESOURCE_REQUESTS,
  type WorldCluster,
  worldCluster,
} from "@resource-broker/testkit";
import type { Context } from "../../evaluation-test.ts";
import { startClusters } from "../../measure/clusters/start-clusters.ts";
import { openSubject, startAgentOf } from "../subject/subject.ts";

const NAMESPACE = "default";
/** Enough for every trial, also where nothing can be released. */
const PROVIDER_NODES = 16;
const GONE_WAIT_MS = 50;

/** When something was first seen, and what was read there. */
interface Observation {
  readonly at: number;
  readonly text: string;
}

/** Two clusters with an agent each, a broker between them, and a watch on everything that is written. */
export interface LatencySetup {
  readonly subject: string;
  readonly requester: WorldCluster;
  /** What the watches have seen: `request/<name>`, `borrowed/<reservation>`, `held/<reservation>`. */
  readonly observations: ReadonlyMap<string, Observation>;
}

export async function openSetup(context: Context): Promise<LatencySetup> {
  const subject = await openSubject(context);
  const addCluster = startClusters(context);
  const ending = new AbortController();
  context.onCleanup(() => ending.abort());
  const open = async (at: number, nodes: number) => {
    const identity = subject.identities(2)[at];
    if (identity === undefined) throw new Error("two clusters are needed");
    const name = identity.clusterId;
    const kubeconfig = await addCluster({ name, nodes, pods: 0 });
    const kubeconfigFile = join(context.folder, `${name}.kubeconfig`);
    const cluster = await worldCluster({ name, kubeconfigFile, kubeconfig });
    context.onCleanup(cluster.client.close);
    return { identity, kubeconfig, cluster };
  };
  const [requester, provider] = [await open(0, 1), await open(1, PROVIDER_NODES)];
  const observations = new Map<string, Observation>();
  /** Only the first sight of a thing counts. */
  const record = (thing: string, at: number, text = ""): void => {
    if (!observations.has(thing)) observations.set(thing, { at, text });
  };
  follow(requester.cluster.client, ending.signal, {
    resource: RESOURCE_REQUESTS,
    see: ({ metadata, status }, at) => {
      const { phase = "Pending", reservationName = "" } = status ?? {};
      if (phase !== "Pending") record(`request/${metadata?.name}`, at, reservationName);
    },
  });
  follow(requester.cluster.client, ending.signal, {
    resource: RESERVATION_INSTRUCTIONS,
    see: ({ spec }, at) => record(`borrowed/${spec?.reservationName}`, at),
  });
  follow(provider.cluster.client, ending.signal, {
    resource: PROVIDER_INSTRUCTIONS,
    see: ({ spec }, at) => record(`held/${spec?.reservationName}`, at),
  });
  for (const { identity, kubeconfig } of [provider, requester])
    await startAgentOf(context, subject, { ...identity, kubeconfig });
  return { subject: subject.label, requester: requester.cluster, observations };
}

interface Followed<T> {
  readonly resource: Resource<T>;
  readonly see: (object: T, at: number) => void;
}

/** Sees everything of a kind as soon as the API server says it; a watch that ends is begun again. */
function follow<T>(client: KubeClient, signal: AbortSignal, { resource, see }: Followed<T>): void {
  const once = async (): Promise<void> => {
    const where = { namespace: NAMESPACE, signal };
    const { resourceVersion } = await client.list(resource, where, () => undefined);
    for await (const event of client.watch(resource, { ...where, resourceVersion }))
      if (event.type !== "BOOKMARK" && event.type !== "DELETED") see(event.object, performance.now());
  };
  const goOn = (): void => {
    if (!signal.aborted) setTimeout(run, GONE_WAIT_MS);
  };
  const run = (): void => void once().then(goOn, goOn);
  run();
}
