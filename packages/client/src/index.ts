export type { BrokerClient, BrokerEvent } from "./broker-client.ts";
export {
  adoptionWindowCall,
  advertiseCall,
  advertisementCall,
  advertisementPages,
  auditPages,
  type CallSender,
  closeAdoptionCall,
  cordonCall,
  drainCall,
  dashboardLinkCall,
  decisionCall,
  explainWaitingCall,
  forRequester,
  isReserved,
  lentByCall,
  openAdoptionCall,
  type PageCall,
  policyCall,
  queuePages,
  quoteCall,
  readAll,
  readPages,
  releaseByKeyCall,
  releaseCall,
  renewCall,
  reservationCall,
  type ReservationOrWaiting,
  reservationPages,
  reserveCall,
  reserveOrWaitCall,
  type Role,
  tenantPages,
  type TypedCall,
  uncordonCall,
} from "./calls.ts";
export { type ClientHints, readBrokerUrls, type ResponseMetadata } from "./endpoints.ts";
export {
  type BrokerClientDeps,
  type BrokerClientOptions,
  checkKey,
  createBrokerClient,
} from "./create-broker-client.ts";
export {
  createDirectCalls,
  type DirectCalls,
  type DirectCallsOptions,
} from "./direct-calls.ts";
export {
  type JoinAddress,
  type JoinDeps,
  enrollAtBroker,
  type TrustedBroker,
} from "./enroll-at-broker.ts";
export { acceptCall, evictCall, inviteCall, membersCall, trustCall } from "./member-calls.ts";
export { createEventParser, type EventBlock, type EventParser } from "./instruction-stream.ts";
export { type CallMessage, LimitError } from "./exchange.ts";
export {
  type Answer,
  isFromCurrentBroker,
  protocolOf,
  refusedCertificate,
  type Reply,
  type ResponseListeners,
  responseListeners,
} from "./reply.ts";
export { commonNameOf } from "./tls-connections.ts";
export { type BodySchema, schemaFor } from "./reply.ts";
