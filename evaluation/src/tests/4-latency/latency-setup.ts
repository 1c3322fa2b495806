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
import type { OnCleanup } from "../../measure/async.ts";
import { startClusters } from "../../measure/clusters/start-clusters.ts";
import { startMeasuredAgent } from "../../measure/start-programs.ts";
import { type Identity, openSubject, type Subject } from "../subject/subject.ts";

const NAMESPACE = "default";
/** Enough for every trial, also where nothing can be released. */
const PROVIDER_NODES = 16;
const GONE_WAIT_MS = 50;

/** Two clusters with an agent each, a broker between them, and a watch on everything that is written. */
export interface LatencySetup {
  readonly subject: string;
  readonly requester: WorldCluster;
  readonly observations: Observations;
}

export async function openSetup(context: Context, onCleanup: OnCleanup): Promise<LatencySetup> {
  const subject = await openSubject(context, onCleanup);
  const [requesterIdentity, providerIdentity] = subject.identities(2);
  if (requesterIdentity === undefined || providerIdentity === undefined)
    throw new Error("two clusters are needed");
  const clusters = startClusters();
  onCleanup(clusters.stop);
  const ending = new AbortController();
  onCleanup(() => ending.abort());
  const observations = createObservations();
  const open = async ({ clusterId }: Identity, nodes: number): Promise<WorldCluster> => {
    const kubeconfig = await clusters.add({ name: clusterId, nodes, pods: 0 });
    const kubeconfigFile = join(context.folder, `${clusterId}.kubeconfig`);
    const cluster = await worldCluster({ name: clusterId, kubeconfigFile, kubeconfig });
    onCleanup(cluster.client.close);
    return cluster;
  };
  const requester = await open(requesterIdentity, 1);
  const provider = await open(providerIdentity, PROVIDER_NODES);
  follow(requester.client, ending.signal, {
    resource: RESOURCE_REQUESTS,
    see: ({ metadata, status }, at) => {
      const { phase = "Pending", reservationName = "" } = status ?? {};
      if (phase !== "Pending")
        observations.record(`request/${metadata?.name}`, { at, text: reservationName });
    },
  });
  follow(requester.client, ending.signal, {
    resource: RESERVATION_INSTRUCTIONS,
    see: ({ spec }, at) => observations.record(`borrowed/${spec?.reservationName}`, { at, text: "" }),
  });
  follow(provider.client, ending.signal, {
    resource: PROVIDER_INSTRUCTIONS,
    see: ({ spec }, at) => observations.record(`held/${spec?.reservationName}`, { at, text: "" }),
  });
  for (const [identity, { kubeconfig }] of [
    [providerIdentity, provider],
    [requesterIdentity, requester],
  ] as const)
    onCleanup((await startAgentOf(context, subject, { identity, kubeconfig })).dispose);
  return { subject: subject.label, requester, observations };
}

async function startAgentOf(
  context: Context,
  { host, port }: Subject,
  { identity, kubeconfig }: { readonly identity: Identity; readonly kubeconfig: string },
) {
  const { clusterId, credentials } = identity;
  return startMeasuredAgent(context, {
    clusterId,
    broker: { port },
    certificates: { cluster: () => credentials },
    kubeconfig,
    flags: [`--broker-url=https://${host}:${port}`],
  });
}

interface Followed<T> {
  readonly resource: Resource<T>;
  readonly see: (object: T, at: number) => void;
}

/** Sees everything of a kind as soon as the API server says it; a watch that ends is begun again. */
function follow<T>(client: KubeClient, signal: AbortSignal, { resource, see }: Followed<T>): void {
  const once = async (): Promise<void> => {
    const { resourceVersion } = await client.list(
      resource,
      { namespace: NAMESPACE, signal },
      () => undefined,
    );
    for await (const event of client.watch(resource, { namespace: NAMESPACE, resourceVersion, signal }))
      if (event.type !== "BOOKMARK" && event.type !== "DELETED") see(event.object, performance.now());
  };
  const goOn = (): void => {
    if (!signal.aborted) setTimeout(run, GONE_WAIT_MS);
  };
  const run = (): void => void once().then(goOn, goOn);
  run();
}

/** When something was first seen, and what was read there. */
interface Observation {
  readonly at: number;
  readonly text: string;
}

/** Watches record what they see; a waiter gets the first observation at once, even if it was recorded before. */
interface Observations {
  /** Only the first sight of a thing counts. */
  readonly record: (thing: string, sight: Observation) => void;
  /** Undefined: it was not seen in time. */
  readonly waitFor: (thing: string, withinMs: number) => Promise<Observation | undefined>;
}

function createObservations(): Observations {
  const pinned = new Map<string, Observation>();
  const waiting = new Map<string, (sight: Observation) => void>();
  return {
    record: (thing, sight) => {
      if (pinned.has(thing)) return;
      pinned.set(thing, sight);
      waiting.get(thing)?.(sight);
      waiting.delete(thing);
    },
    waitFor: (thing, withinMs) => {
      const there = pinned.get(thing);
      if (there !== undefined) return Promise.resolve(there);
      return new Promise((resolve) => {
        const timer = setTimeout(() => {
          waiting.delete(thing);
          resolve(undefined);
        }, withinMs);
        waiting.set(thing, (sight) => {
          clearTimeout(timer);
          resolve(sight);
        });
      });
    },
  };
}
