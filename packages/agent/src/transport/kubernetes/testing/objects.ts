import { formatTime } from "@resource-broker/base";
import type { AdvertisementDTO } from "@resource-broker/contract";
import { apiVersionOf, KUBE_LABEL, type Reservation, reservationKind } from "@resource-broker/contract/crd";
import { type KubeClient, SELF_SUBJECT_REVIEWS } from "@resource-broker/kube";

export const NAMESPACE = "default";

/** As the API server answers an agent whose kubeconfig came from `brokerctl kubeconfig issue`. */
export function issuedFor(clusterId: string, client: KubeClient): KubeClient {
  const username = `system:serviceaccount:${NAMESPACE}:agent-${clusterId}`;
  const create: KubeClient["create"] = (resource, object, options) =>
    resource.plural === SELF_SUBJECT_REVIEWS.plural
      ? Promise.resolve({ ...object, status: { userInfo: { username } } })
      : client.create(resource, object, options);
  return { ...client, create };
}

/** Of an object where the broker keeps everything. */
export const named = (name: string) => ({ name, namespace: NAMESPACE });

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
