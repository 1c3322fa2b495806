import {
  advertisementKind,
  customResourceDefinition,
  KINDS,
  providerInstructionKind,
  reservationInstructionKind,
  resourceRequestKind,
} from "@resource-broker/contract";
import { customResource } from "@resource-broker/kube";
import type { JsonObject } from "@resource-broker/kube-sim";

export const ADVERTISEMENTS = customResource(advertisementKind);
export const RESOURCE_REQUESTS = customResource(resourceRequestKind);
export const RESERVATION_INSTRUCTIONS = customResource(reservationInstructionKind);
export const PROVIDER_INSTRUCTIONS = customResource(providerInstructionKind);

/** The definitions of the kinds that every cluster has. */
export function clusterDefinitions(): JsonObject[] {
  return KINDS.filter(({ group }) => group === "rear.fluidos.eu").map((kind) =>
    plain(customResourceDefinition(kind)),
  );
}

/** JSON all the way: what is undefined is left out. */
function plain(object: object): JsonObject {
  return JSON.parse(JSON.stringify(object)) as JsonObject;
}
