import { Fault, formatTime } from "@resource-broker/base";
import type { AdvertisementDTO } from "@resource-broker/contract";
import {
  apiVersionOf,
  BROKER_LEASE,
  type ClusterAdvertisement,
  type Condition,
  clusterAdvertisementName,
  KUBE_ANNOTATION,
  KUBE_LABEL,
  type Reservation,
  reservationKind,
} from "@resource-broker/contract/crd";
import { MARKET_PROTOCOL } from "@resource-broker/domain";
import { type KubeClient, LEASES, type Resource, SELF_SUBJECT_REVIEWS } from "@resource-broker/kube";
import type { ListQuery, WatchEvent, WatchQuery } from "@resource-broker/kube/testing";
import type { FakeClock } from "@resource-broker/testkit";
import { fakeCluster } from "../../../testing/fake-cluster.ts";
import { CLUSTER_ADVERTISEMENTS, RESERVATIONS } from "../manifests.ts";

export const NAMESPACE = "default";
const EVERY_MS = 2000;

/** Of an object where the broker keeps everything. */
export const named = (name: string) => ({ name, namespace: NAMESPACE });

/** As the API server answers an agent whose kubeconfig came from `brokerctl kubeconfig issue`. */
export function issuedFor(clusterId: string, client: KubeClient): KubeClient {
  const username = `system:serviceaccount:${NAMESPACE}:agent-${clusterId}`;
  const create: KubeClient["create"] = (resource, object, options) =>
    resource.plural === SELF_SUBJECT_REVIEWS.plural
      ? Promise.resolve({ ...object, status: { userInfo: { username } } })
      : client.create(resource, object, options);
  return { ...client, create };
}

export type FakeHub = ReturnType<typeof fakeHub>;

/** The broker's cluster in memory on a test's own time. What a broker would do there, the test does. */
export function fakeHub(clock: FakeClock) {
  const cluster = fakeCluster(clock);
  let isBreaking = false;
  let freedAt: string | undefined;
  let protocol: number | undefined = MARKET_PROTOCOL;
  const lease = named(BROKER_LEASE);

  const renewLease = (ledgerId = "led-1"): void => {
    const spec = { holderIdentity: "replica", renewTime: formatTime(clock.wallMs()) };
    const freed = freedAt === undefined ? {} : { [KUBE_ANNOTATION.capacityFreed]: freedAt };
    const stated = protocol === undefined ? {} : { [KUBE_ANNOTATION.protocol]: String(protocol) };
    const annotations = { [KUBE_ANNOTATION.ledgerId]: ledgerId, ...stated, ...freed };
    const object = { metadata: { ...lease, annotations }, spec };
    if (cluster.find(LEASES, lease) === undefined) cluster.put(LEASES, object);
    else
      cluster.edit(LEASES, lease, ({ metadata }) => ({ ...object, metadata: { ...metadata, annotations } }));
  };
  const list: KubeClient["list"] = async (resource, query, each) => {
    const breaks = isBreaking;
    isBreaking = false;
    return cluster.client.list(resource, query, (object) => {
      each(object);
      if (breaks) throw new Fault("unreachable", "connection reset");
    });
  };
  const apply: KubeClient["apply"] = (resource, object, options) => {
    if (options.subresource !== "status") return cluster.client.apply(resource, object, options);
    const { metadata, status } = object as unknown as Reservation;
    return cluster.client.find(resource, metadata).then((found) => {
      const before = found as Reservation | undefined;
      const conditions = withConditions(before?.status?.conditions, status?.conditions ?? []);
      const body = { status: { conditions } };
      return cluster.client.patch(resource, { name: metadata, patch: { kind: "merge", body } }, options);
    });
  };

  return {
    cluster,
    /** The client of a cluster's agent. */
    clientOf: (clusterId: string): KubeClient =>
      issuedFor(clusterId, { ...cluster.client, ...selecting({ ...cluster.client, list }), apply }),
    /** The broker says on its Lease when capacity was freed; the next beat repeats it. */
    free: (at: string | undefined): void => {
      freedAt = at;
    },
    /** The broker's protocol, which the next beat states. Undefined: an older broker, which states none. */
    setProtocol: (next: number | undefined): void => {
      protocol = next;
    },
    /** The next list breaks off after its first object. */
    breakNextList: (): void => {
      isBreaking = true;
    },
    renewLease,
    /** From now on the broker renews its Lease, until the returned function is called. */
    keepRenewing: (): (() => void) => {
      let cancel = (): void => undefined;
      const next = (): void => {
        renewLease();
        cancel = clock.after(EVERY_MS, next);
      };
      next();
      return () => cancel();
    },
    /** The broker writes to a Reservation. */
    writeReservation: (
      name: string,
      status: Reservation["status"],
      spec: Partial<Reservation["spec"]> = {},
    ): void => {
      cluster.edit(RESERVATIONS, named(name), (object) => {
        const target = spec.targetClusterID ?? object.spec.targetClusterID;
        const labels = {
          ...object.metadata.labels,
          ...(target === undefined ? {} : { [KUBE_LABEL.target]: target }),
        };
        return {
          ...object,
          metadata: { ...object.metadata, labels },
          spec: { ...object.spec, ...spec },
          status: { ledgerID: "led-1", reservationID: name, ...object.status, ...status },
        };
      });
    },
    /** The broker writes to a cluster's advertisement. */
    writeAdvertisement: (
      clusterId: string,
      by: (object: ClusterAdvertisement) => ClusterAdvertisement,
    ): void => void cluster.edit(CLUSTER_ADVERTISEMENTS, named(clusterAdvertisementName(clusterId)), by),
  };
}

function withConditions(before: readonly Condition[] = [], updates: readonly Condition[]): Condition[] {
  return [...before.filter(({ type }) => !updates.some((each) => each.type === type)), ...updates];
}

/** The fake knows no selectors: here is as much of them as the transport uses. */
function selecting(client: KubeClient): Pick<KubeClient, "list" | "watch"> {
  return {
    list: (resource, query, each) =>
      client.list(resource, query, (object) => {
        if (isSelected(object, query)) each(object);
      }),
    watch: (resource, query) => selected(client, resource, query),
  };
}

async function* selected<T>(
  client: KubeClient,
  resource: Resource<T>,
  query: WatchQuery,
): AsyncGenerator<WatchEvent<T>> {
  for await (const event of client.watch(resource, query)) {
    if (event.type === "BOOKMARK" || isSelected(event.object, query)) yield event;
  }
}

function isSelected(object: unknown, { labelSelector, fieldSelector }: ListQuery): boolean {
  const { metadata } = object as Reservation;
  const [label = "", value] = labelSelector?.split("=") ?? [];
  const hasLabel = labelSelector === undefined || metadata.labels?.[label] === value;
  return hasLabel && (fieldSelector === undefined || fieldSelector === `metadata.name=${metadata.name}`);
}

/** A reservation as the broker shows it: rome borrows 2 CPU from paris. */
export function reservationObject(
  name: string,
  status: Reservation["status"] = {},
  spec: Partial<Reservation["spec"]> = {},
): Reservation {
  const { requesterID = "rome", targetClusterID = "paris" } = spec;
  return {
    apiVersion: apiVersionOf(reservationKind),
    kind: reservationKind.kind,
    metadata: {
      ...named(name),
      creationTimestamp: "2026-01-05T12:00:00Z",
      labels: { [KUBE_LABEL.requester]: requesterID, [KUBE_LABEL.target]: targetClusterID },
    },
    spec: { requesterID, targetClusterID, requestedResources: { cpu: "2", memory: "4Gi" }, ...spec },
    status: {
      phase: "Reserved",
      reservationID: name,
      ledgerID: "led-1",
      generation: 1,
      createdAt: "2026-01-05T12:00:00.000Z",
      message: "as the broker says",
      ...status,
    },
  };
}

export function advertisementOf(clusterID: string): AdvertisementDTO {
  const all = { cpu: "16", memory: "64Gi" };
  const none = { cpu: "0", memory: "0" };
  const resources = { capacity: all, allocatable: all, allocated: none, reserved: none, available: all };
  return { clusterID, resources, timestamp: formatTime(0) };
}
