import {
  type ClusterTotals,
  type CountedResources,
  clusterLabels,
  clusterSums,
  gpuModels,
  type LiveReservation,
  NODE_LABELS,
  type NodeAccounting,
  type NodeFacts,
  nodeFacts,
  podFacts,
  podKey,
  type ToleratedTaint,
} from "@resource-broker/accounting";
import type { KubernetesNode, KubernetesPod } from "@resource-broker/base";
import type { GpuModel } from "@resource-broker/domain";
import {
  nodesWithLabels,
  podsWithLabels,
  type Reflector,
  type ReflectorDeps,
  type ReflectorHealth,
  reflector,
  type Sink,
} from "@resource-broker/kube";

/** What the cluster has and uses, at one moment. */
export interface Observation {
  readonly totals: ClusterTotals;
  /** Region and zone that all counted nodes share. */
  readonly labels: Readonly<Record<string, string>>;
  readonly gpus: readonly GpuModel[];
}

interface ObserverOptions {
  readonly toleratedTaints: readonly ToleratedTaint[];
  readonly resources: CountedResources;
  readonly accounting: NodeAccounting;
}

/** Pods of a large cluster change a hundred times a second; events are batched for this time. */
const BATCH_MS = 100;

/** Follows nodes and pods and keeps nothing but running sums of them. */
export function clusterObserver(options: ObserverOptions, deps: ReflectorDeps) {
  const { resources, toleratedTaints, accounting } = options;
  const sums = clusterSums({ toleratedTaints });
  const listeners: (() => void)[] = [];
  let reservationIds = new Set<string>();
  let facts: Omit<Observation, "totals"> | undefined;
  let isSynced = false;

  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  const warn = logOnce((problem) => deps.log.warn({ problem }, "a quantity could not be read"));

  const nodeSink: Sink<KubernetesNode> = notifying(
    {
      beginList: () => sums.beginNodes(),
      endList: () => sums.endNodes(),
      put: (node) => {
        const reading = nodeFacts(node, resources, accounting);
        for (const problem of reading.problems)
          warn(`node ${reading.facts.name}, which does not count for this resource: ${problem}`);
        sums.putNode(reading.facts);
      },
      remove: (node) => sums.removeNode(node.metadata?.name ?? ""),
    },
    () => {
      facts = undefined;
      changed();
    },
  );
  const podSink: Sink<KubernetesPod> = notifying(
    {
      beginList: () => sums.beginPods(),
      endList: () => sums.endPods(),
      put: (pod) => {
        const reading = podFacts(pod, resources, accounting);
        for (const problem of reading.problems)
          warn(`pod ${nameOf(pod)}, whose whole node counts as allocated: ${problem}`);
        sums.putPod(reading.facts);
      },
      remove: (pod) => sums.removePod(podKey(pod)),
    },
    changed,
  );
  const followers: Readonly<Record<"nodes" | "pods", Reflector>> = {
    nodes: reflector(
      { resource: nodesWithLabels([...accounting.labels.node, ...NODE_LABELS]) },
      nodeSink,
      deps,
    ),
    pods: reflector({ resource: podsWithLabels(accounting.labels.pod), coalesceMs: BATCH_MS }, podSink, deps),
  };

  return {
    /** Resolves when all nodes and pods were seen once. */
    start: async (): Promise<void> => {
      await Promise.all([followers.nodes.start(), followers.pods.start()]);
      isSynced = true;
      changed();
    },
    stop: async (): Promise<void> => {
      await Promise.all([followers.nodes.stop(), followers.pods.stop()]);
    },
    isSynced: () => isSynced,
    observe: (): Observation => {
      facts ??= factsOf([...sums.nodes()].filter(({ verdict }) => verdict.counted).map((node) => node.facts));
      return { totals: sums.totals(), ...facts };
    },
    /** Whether a node's capacity is part of what is observed. */
    isCounted: (name: string): boolean => sums.nodeKind(name) === "counted",
    /** The reservations of this provider: their pods are guest pods, not the cluster's own. */
    setReservations: (reservations: readonly LiveReservation[]): void => {
      const ids = new Set(reservations.map(({ id }) => id));
      for (const id of reservationIds) if (!ids.has(id)) sums.removeReservation(id);
      for (const reservation of reservations) sums.putReservation(reservation);
      reservationIds = ids;
      changed();
    },
    /** Called at every event; the listener limits its own rate. */
    onChange: (listener: () => void): void => void listeners.push(listener),
    health: (): Readonly<Record<"nodes" | "pods", ReflectorHealth>> => ({
      nodes: followers.nodes.health(),
      pods: followers.pods.health(),
    }),
  };
}

function factsOf(counted: readonly NodeFacts[]): Omit<Observation, "totals"> {
  return { labels: clusterLabels(counted), gpus: gpuModels(counted) };
}

function nameOf({ metadata }: KubernetesPod): string {
  return `${metadata?.namespace ?? ""}/${metadata?.name ?? ""}`;
}

/** A list is many puts and one change notification. */
function notifying<T>(sink: Sink<T>, changed: () => void): Sink<T> {
  let isListing = false;
  const notify = (): void => {
    if (!isListing) changed();
  };
  return {
    beginList: () => {
      isListing = true;
      sink.beginList();
    },
    endList: () => {
      isListing = false;
      sink.endList();
      changed();
    },
    put: (object) => {
      sink.put(object);
      notify();
    },
    remove: (object) => {
      sink.remove(object);
      notify();
    },
  };
}

const MAX_LOGGED_PROBLEMS = 100;

/** The same problem is seen at each event of an object. */
function logOnce(log: (text: string) => void): (text: string) => void {
  const logged = new Set<string>();
  return (text) => {
    if (logged.has(text)) return;
    if (logged.size >= MAX_LOGGED_PROBLEMS) logged.clear();
    logged.add(text);
    log(text);
  };
}
