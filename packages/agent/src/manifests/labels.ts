import {
  AGENT_FIELD_MANAGER,
  providerInstructionKind,
  reservationInstructionKind,
  resourceRequestKind,
} from "@resource-broker/contract/crd";
import { customResource } from "@resource-broker/kube";

export const RESOURCE_REQUESTS = customResource(resourceRequestKind);
export const RESERVATION_INSTRUCTIONS = customResource(reservationInstructionKind);
export const PROVIDER_INSTRUCTIONS = customResource(providerInstructionKind);

/** The UID of the ResourceRequest that an instruction comes from; owner references do not cross namespaces. */
export const REQUEST_UID_LABEL = "rear.fluidos.eu/request-uid";
export const MANAGED_BY_LABEL = "app.kubernetes.io/managed-by";
export const MANAGER = AGENT_FIELD_MANAGER;
/** The reservation as the broker last sent it: a restarted agent restores its cache from here. */
export const RESERVATION_ANNOTATION = "rear.fluidos.eu/reservation";
/** Namespace and name of the ResourceRequest, for people. */
export const REQUEST_ANNOTATION = "rear.fluidos.eu/request";
