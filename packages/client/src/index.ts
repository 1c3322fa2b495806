export type { BrokerClient, BrokerEvent } from "./broker-client.ts";
export type { Role } from "./calls.ts";
export type { ClientHints, ResponseMetadata } from "./endpoints.ts";
export {
  adoptionWindowCall,
  advertiseCall,
  advertisementCall,
  advertisementPages,
  auditPages,
  type CallSender,
  closeAdoptionCall,
  cordonCall,
  dashboardLinkCall,
  decisionCall,
  forRequester,
  openAdoptionCall,
  type PageCall,
  policyCall,
  quoteCall,
  readAll,
  readPages,
  releaseByKeyCall,
  releaseCall,
  renewCall,
  reservationCall,
  reservationPages,
  reserveCall,
  type TypedCall,
  uncordonCall,
} from "./calls.ts";
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
export { readBrokerUrls } from "./endpoints.ts";
export { createEventParser, type EventBlock, type EventParser } from "./event-parser.ts";
export { type CallMessage, LimitError } from "./exchange.ts";
export {
  type Answer,
  isFromCurrentBroker,
  type Reply,
  type ResponseListeners,
  responseListeners,
} from "./reply.ts";
export { commonNameOf } from "./tls-connections.ts";
