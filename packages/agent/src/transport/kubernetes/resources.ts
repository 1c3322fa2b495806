import { clusterAdvertisementKind, reservationKind } from "@resource-broker/contract";
import { customResource } from "@resource-broker/kube";

export const RESERVATIONS = customResource(reservationKind);
export const CLUSTER_ADVERTISEMENTS = customResource(clusterAdvertisementKind);
