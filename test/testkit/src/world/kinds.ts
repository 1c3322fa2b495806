import {
  advertisementKind,
  clusterAdvertisementKind,
  customResourceDefinition,
  KINDS,
  type Kind,
  providerInstructionKind,
  reservationInstructionKind,
  reservationKind,
  resourceRequestKind,
} from "@resource-broker/contract/crd";
import { customResource } from "@resource-broker/kube";
import type { JsonObject } from "@resource-broker/kube-sim";

export const ADVERTISEMENTS = customResource(advertisementKind);
export const RESOURCE_REQUESTS = customResource(resourceRequestKind);
export const RESERVATION_INSTRUCTIONS = customResource(reservationInstructionKind);
export const PROVIDER_INSTRUCTIONS = customResource(providerInstructionKind);
export const CLUSTER_ADVERTISEMENTS = customResource(clusterAdvertisementKind);
export const RESERVATIONS = customResource(reservationKind);

/** The definitions of the kinds that every cluster has. */
export function clusterDefinitions(): JsonObject[] {
  return definitionsOf("rear.fluidos.eu");
}

/** Those that the broker's cluster has beside them. */
export function hubDefinitions(): JsonObject[] {
  return definitionsOf("broker.fluidos.eu");
}

function definitionsOf(wanted: Kind<unknown, unknown>["group"]): JsonObject[] {
  return KINDS.filter(({ group }) => group === wanted).map((kind) => plain(customResourceDefinition(kind)));
}

/** JSON all the way: what is undefined is left out. */
function plain(object: object): JsonObject {
  return JSON.parse(JSON.stringify(object)) as JsonObject;
}
