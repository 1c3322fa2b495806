import { attemptOf } from "@resource-broker/agent/testing";
import { readAll, reservationPages } from "@resource-broker/client";
import { isFinal } from "@resource-broker/domain";
import {
  type BrokerProcess,
  PROVIDER_INSTRUCTIONS,
  RESERVATION_INSTRUCTIONS,
  RESOURCE_REQUESTS,
  type WorldCluster,
} from "@resource-broker/testkit";

/** A ResourceRequest that a test made, whether it is still wanted or not. */
export interface TestRequest {
  readonly uid: string;
  readonly cluster: string;
  readonly name: string;
  readonly isWanted: boolean;
}

export interface LedgerReservation {
  readonly id: string;
  /** The UID of the request it was asked with. */
  readonly uid: string;
  readonly requester: string;
  readonly provider: string;
  readonly isLive: boolean;
}

/** What one cluster shows. */
export interface ClusterObjects {
  readonly cluster: string;
  readonly requests: readonly { readonly uid: string; readonly phase: string; readonly id: string }[];
  /** Reservation ids of delivered ReservationInstructions, and of those that are not yet. */
  readonly reservationInstructions: readonly Instructed[];
  /** The same of ProviderInstructions. */
  readonly providerInstructions: readonly Instructed[];
}

export interface Instructed {
  readonly id: string;
  readonly isDone: boolean;
}

/** Everything that must agree. */
export interface Snapshot {
  readonly reservations: readonly LedgerReservation[];
  readonly objects: readonly ClusterObjects[];
}

/** `clusters` by a way that nothing disturbs. */
export async function readSnapshot(
  broker: BrokerProcess,
  clusters: readonly WorldCluster[],
): Promise<Snapshot> {
  const [reservations, shown] = await Promise.all([
    Promise.all(clusters.map(({ name }) => reservationsOf(broker, name))),
    Promise.all(clusters.map(objectsIn)),
  ]);
  return { reservations: reservations.flat(), objects: shown };
}

async function reservationsOf(broker: BrokerProcess, name: string): Promise<LedgerReservation[]> {
  const all = await readAll(broker.api(name), reservationPages("requester"));
  return all.map(({ id, key, requesterID, targetClusterID, status }) => ({
    id,
    uid: attemptOf(key)?.uid ?? "",
    requester: requesterID,
    provider: targetClusterID,
    isLive: !isFinal(status.phase),
  }));
}

async function objectsIn(cluster: WorldCluster): Promise<ClusterObjects> {
  const [requests, requested, held] = await Promise.all([
    cluster.list(RESOURCE_REQUESTS),
    cluster.list(RESERVATION_INSTRUCTIONS),
    cluster.list(PROVIDER_INSTRUCTIONS),
  ]);
  return {
    cluster: cluster.name,
    requests: requests.map(({ metadata, status }) => ({
      uid: metadata.uid ?? "",
      phase: status?.phase ?? "Pending",
      id: status?.reservationName ?? "",
    })),
    reservationInstructions: requested.map(({ spec, status }) => ({
      id: spec.reservationName,
      isDone: status?.delivered === true,
    })),
    providerInstructions: held.map(({ spec, status }) => ({
      id: spec.reservationName,
      isDone: status?.enforced === true,
    })),
  };
}
