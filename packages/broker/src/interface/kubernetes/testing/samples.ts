import {
  apiVersionOf,
  type ClusterAdvertisement,
  RESERVATION_CONDITION,
  type Reservation,
  reservationKind,
} from "@resource-broker/contract/crd";
import { reservationNameFor } from "@resource-broker/domain";
import type { KubeClient } from "@resource-broker/kube";
import { sha256 } from "@resource-broker/runtime";
import { CLUSTER_ADVERTISEMENTS, RESERVATIONS } from "../objects/object-informers.ts";

export const NAMESPACE = "broker";
const BROKER_API = apiVersionOf(reservationKind);
const NONE = { cpu: "0", memory: "0" };

export interface Offered {
  readonly cpu?: number;
  readonly sequence?: number;
  readonly instance?: string;
  readonly allocated?: { readonly cpu: string; readonly memory: string };
}

/** What an agent applies: everything but reserved and available. */
export function offered(
  clusterID: string,
  { cpu = 16, sequence = 1, instance = "a", allocated = NONE }: Offered = {},
): Partial<ClusterAdvertisement> {
  const all = { cpu: String(cpu), memory: `${cpu * 4}Gi` };
  return {
    metadata: { name: `${clusterID}-adv`, namespace: NAMESPACE },
    spec: {
      clusterID,
      clusterName: clusterID,
      resources: { capacity: all, allocatable: all, allocated },
      timestamp: new Date(Date.UTC(2026, 0, 5, 12, 0, sequence)).toISOString(),
      instance,
      sequence,
    },
  };
}

/** Publishes as our agents do. */
export function publish(
  client: KubeClient,
  clusterId: string,
  more: Offered = {},
): Promise<ClusterAdvertisement> {
  return client.apply(CLUSTER_ADVERTISEMENTS, offered(clusterId, more), {
    fieldManager: "resource-broker-agent",
    force: true,
  });
}

/** A person's Reservation. */
export function personsReservation(name: string, spec: Partial<Reservation["spec"]> = {}): Reservation {
  return {
    apiVersion: BROKER_API,
    kind: "Reservation",
    metadata: { name, namespace: NAMESPACE },
    spec: {
      requestedResources: { cpu: "500m", memory: "512Mi" },
      requesterID: "rome",
      priority: 10,
      ...spec,
    },
  };
}

/** An agent's: named after its key. */
export function agentsReservation(key: string, spec: Partial<Reservation["spec"]> = {}): Reservation {
  const { requesterID = "rome" } = spec;
  return personsReservation(reservationNameFor(requesterID, key, sha256), { ...spec, requesterID, key });
}

type Signal = Exclude<keyof typeof RESERVATION_CONDITION, "reserved" | "orphaned" | "ready">;

/** Says something on a Reservation, as the party it is about does. */
export async function sendSignal(
  client: KubeClient,
  name: string,
  signal: {
    readonly type: Signal;
    readonly status?: "True" | "False";
    readonly reason?: string;
    readonly message?: string;
  },
): Promise<void> {
  const { type, status = "True", reason = "Said", message = "" } = signal;
  const condition = {
    type: RESERVATION_CONDITION[type],
    status,
    reason,
    message,
    lastTransitionTime: new Date(0).toISOString(),
  };
  await client.apply(
    RESERVATIONS,
    { metadata: { name, namespace: NAMESPACE }, status: { conditions: [condition] } },
    { fieldManager: `signal-${type.toLowerCase()}`, force: true, subresource: "status" },
  );
}

export function named(name: string): { readonly name: string; readonly namespace: string } {
  return { name, namespace: NAMESPACE };
}
