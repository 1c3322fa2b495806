import type { Clock } from "@resource-broker/base";
import type { NamespaceOffloading } from "../objects/offloading.ts";
import type { ClusterReads } from "./cluster-reads.ts";
import type { PeeringJobFactory } from "./peering-job-factory.ts";
import { currentJob, type PeeringJobRunner } from "./peering-job-runner.ts";
import type { PeeringStore } from "./peering-store.ts";
import { claimantsOf, closedProvider } from "./plan-offload.ts";
import type { ReservationObjects } from "./plan-teardown.ts";
import type { PeeringState } from "./plan-unpeer.ts";
import { isDrainable, isVirtual, type ReservationPod } from "./reservation-nodes.ts";

/** Reads the objects of a reservation by its ID. */
export type ReadReservationObjects = (id: string) => Promise<Omit<ReservationObjects, "waitedMs">>;

export interface ReservationObjectsDeps {
  readonly reads: ClusterReads;
  readonly peerings: PeeringStore;
  readonly jobs: PeeringJobRunner;
  readonly jobFactory: Pick<PeeringJobFactory, "hasNewKubeconfig">;
  readonly clock: Pick<Clock, "wallMs">;
}

export function reservationObjectsReader(deps: ReservationObjectsDeps): ReadReservationObjects {
  const { reads, peerings, clock } = deps;
  /** A slice of the same name that someone else made keeps its virtual node. */
  const nodesOf = async (id: string, ours: ReservationObjects["slices"]) => {
    const found = await reads.virtualNodes(id);
    const isOurs = await Promise.all(
      found.map(async ({ metadata, spec }) => {
        if (ours.some((slice) => slice.metadata.namespace === metadata.namespace)) return true;
        return (await reads.slice(spec.clusterID ?? "", id)) === undefined;
      }),
    );
    const virtualNodes = found.filter((_, index) => isOurs[index] === true);
    const isForeign = found.length > virtualNodes.length;
    const node = isForeign ? undefined : await reads.node(id);
    return { virtualNodes, node: node !== undefined && isVirtual(node) ? node : undefined };
  };

  const peeringOf = async (id: string): Promise<PeeringState | undefined> => {
    const marker = (await peerings.all()).find(({ claims }) => claims.includes(id));
    if (marker === undefined) return undefined;
    const { liqoId } = marker;
    const [slices, slicesFrom, foreignCluster] = await Promise.all([
      reads.slicesTo(liqoId),
      reads.slicesFrom(liqoId),
      reads.foreignCluster(liqoId),
    ]);
    return {
      marker,
      slices: slices.length,
      slicesFrom: slicesFrom.length,
      foreignCluster,
      job: await currentJob(deps, marker),
      wallMs: clock.wallMs(),
    };
  };

  /** Pods of a namespace run on any node of the provider, also on those of other reservations. */
  const podsElsewhere = async (
    id: string,
    offloading: NamespaceOffloading,
  ): Promise<readonly ReservationPod[]> => {
    const liqoId = closedProvider(offloading, id);
    return liqoId === undefined ? [] : await reads.podsFor(liqoId, offloading.metadata.namespace ?? "");
  };

  return async (id) => {
    const slices = await reads.labelledSlices(id);
    const [{ virtualNodes, node }, offloadings, peering] = await Promise.all([
      nodesOf(id, slices),
      reads.offloadings(),
      peeringOf(id),
    ]);
    const named = offloadings.filter((offloading) => claimantsOf(offloading).includes(id));
    const [pods, otherPods] = await Promise.all([
      node === undefined ? [] : reads.podsOn(id),
      Promise.all(named.map((offloading) => podsElsewhere(id, offloading))),
    ]);
    const elsewhere = otherPods.flat().filter(({ spec }) => spec?.nodeName !== id);
    return {
      id,
      slices,
      virtualNodes,
      node,
      pods: [...pods, ...elsewhere].filter(isDrainable),
      offloadings: named,
      peering,
    };
  };
}
