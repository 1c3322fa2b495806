export { type Advertisement, advertisementKind } from "./advertisement.ts";
export { type BrokerPolicy, brokerPolicyKind } from "./broker-policy.ts";
export { type ClusterAdvertisement, clusterAdvertisementKind } from "./cluster-advertisement.ts";
export { type CustomResourceDefinition, customResourceDefinition, KINDS } from "./definition.ts";
export { apiVersionOf, type Kind } from "./kind.ts";
export { noticeIn, noticeMessage } from "./notice.ts";
export {
  AGENT_FIELD_MANAGER,
  BROKER_LEASE,
  clusterAdvertisementName,
  KUBE_ANNOTATION,
  KUBE_LABEL,
  NOBODY,
  RESERVATION_CONDITION,
} from "./protocol.ts";
export { type ProviderInstruction, providerInstructionKind } from "./provider-instruction.ts";
export { RESERVATION_FINALIZER, type Reservation, reservationKind } from "./reservation.ts";
export { type ReservationInstruction, reservationInstructionKind } from "./reservation-instruction.ts";
export { type ResourceRequest, resourceRequestKind } from "./resource-request.ts";
export {
  type Condition,
  conditionMessage,
  MAX_EXPLANATION_LENGTH,
  quantitiesFrom,
  requestedFieldsOf,
} from "./shared-fields.ts";
