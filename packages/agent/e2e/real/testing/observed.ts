import { DEFAULT_COUNTED_RESOURCES, type LiveReservation } from "@resource-broker/accounting";
import {
  type KubeClient,
  NODES,
  type ReflectorDeps,
  type Resource,
  type Selection,
} from "@resource-broker/kube";
import { systemClock } from "@resource-broker/runtime";
import { liqoAccounting } from "../../../src/liqo/node-accounting.ts";
import { clusterObserver, type Observation } from "../../../src/observe/cluster-observer.ts";

export interface ObservedOptions {
  /** Absent: all of them. */
  readonly node?: string;
  readonly reservations?: readonly LiveReservation[];
}

/** What the agent's observer makes of a cluster. Whatever it complains of is an error. */
export async function observed(client: KubeClient, options: ObservedOptions = {}): Promise<Observation> {
  const { node, reservations = [] } = options;
  const problems: string[] = [];
  const complain = (fields: object, message: string): void =>
    void problems.push(`${message} ${JSON.stringify(fields)}`);
  const deps: ReflectorDeps = {
    client: node === undefined ? client : withOneNode(client, node),
    clock: systemClock(() => Math.round(performance.timeOrigin + performance.now())),
    random: () => 0.5,
    log: { info: () => undefined, warn: complain, error: complain },
  };
  const observer = clusterObserver(
    { resources: DEFAULT_COUNTED_RESOURCES, toleratedTaints: [], accounting: liqoAccounting },
    deps,
  );
  try {
    await observer.start();
    observer.setReservations(reservations);
    const observation = observer.observe();
    if (problems.length > 0) throw new Error(problems.join("\n"));
    return observation;
  } finally {
    await observer.stop();
  }
}

/** The same cluster, of which only this node is seen: sums are of one node then. */
function withOneNode(client: KubeClient, name: string): KubeClient {
  const narrowed = <Query extends Selection>(resource: Resource<unknown>, query: Query): Query =>
    resource.plural === NODES.plural ? { ...query, fieldSelector: `metadata.name=${name}` } : query;
  return {
    ...client,
    list: (resource, query, each) => client.list(resource, narrowed(resource, query), each),
    watch: (resource, query) => client.watch(resource, narrowed(resource, query)),
  };
}
