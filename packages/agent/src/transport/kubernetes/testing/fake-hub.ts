import { Fault, formatTime } from "@resource-broker/base";
import {
  BROKER_LEASE,
  type ClusterAdvertisement,
  type Condition,
  clusterAdvertisementName,
  KUBE_ANNOTATION,
  KUBE_LABEL,
  type Reservation,
} from "@resource-broker/contract/crd";
import { type KubeClient, LEASES, type Resource } from "@resource-broker/kube";
import type { ListQuery, WatchEvent, WatchQuery } from "@resource-broker/kube/testing";
import type { FakeClock } from "@resource-broker/testkit";
import { type FakeCluster, fakeCluster } from "../../../testing/fake-cluster.ts";
import { CLUSTER_ADVERTISEMENTS, RESERVATIONS } from "../manifests.ts";
import { issuedFor, NAMESPACE } from "./objects.ts";

const EVERY_MS = 2000;

/** The broker's cluster in memory on a test's own time. What a broker would do there, the test does. */
export interface FakeHub {
  readonly cluster: FakeCluster;
  /** The client of a cluster's agent. */
  readonly clientOf: (clusterId: string) => KubeClient;
  /** The next list breaks off after its first object. */
  readonly breakNextList: () => void;
  /** The broker renews its Lease once. */
  readonly renewLease: (ledgerId?: string) => void;
  /** The broker says on its Lease when capacity was freed; the next beat repeats it. */
  readonly free: (at: string | undefined) => void;
  /** From now on it renews its Lease, until the returned function is called. */
  readonly keepRenewing: (ledgerId?: string) => () => void;
  /** The broker writes to a Reservation. */
  readonly writeReservation: (
    name: string,
    status: Reservation["status"],
    spec?: Partial<Reservation["spec"]>,
  ) => void;
  /** The broker writes to a cluster's advertisement. */
  readonly writeAdvertisement: (
    clusterId: string,
    by: (object: ClusterAdvertisement) => ClusterAdvertisement,
  ) => void;
}

export function fakeHub(clock: FakeClock): FakeHub {
  const cluster = fakeCluster(clock);
  let isBreaking = false;
  let freedAt: string | undefined;
  const lease = { name: BROKER_LEASE, namespace: NAMESPACE };

  const renewLease = (ledgerId = "led-1"): void => {
    const spec = { holderIdentity: "replica", renewTime: formatTime(clock.wallMs()) };
    const freed = freedAt === undefined ? {} : { [KUBE_ANNOTATION.capacityFreed]: freedAt };
    const annotations = { [KUBE_ANNOTATION.ledgerId]: ledgerId, ...freed };
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
    clientOf: (clusterId) =>
      issuedFor(clusterId, { ...cluster.client, ...selecting({ ...cluster.client, list }), apply }),
    free: (at) => {
      freedAt = at;
    },
    breakNextList: () => {
      isBreaking = true;
    },
    renewLease,
    keepRenewing: (ledgerId) => {
      let cancel = (): void => undefined;
      const next = (): void => {
        renewLease(ledgerId);
        cancel = clock.after(EVERY_MS, next);
      };
      next();
      return () => cancel();
    },
    writeReservation: (name, status, spec = {}) => {
      cluster.edit(RESERVATIONS, { name, namespace: NAMESPACE }, (object) => {
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
    writeAdvertisement: (clusterId, by) =>
      void cluster.edit(
        CLUSTER_ADVERTISEMENTS,
        { name: clusterAdvertisementName(clusterId), namespace: NAMESPACE },
        by,
      ),
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
