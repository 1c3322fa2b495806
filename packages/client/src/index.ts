export type { BrokerClient, BrokerEvent, ClientHints, ResponseMetadata, Role } from "./broker-client.ts";
export {
  type BrokerClientDeps,
  type BrokerClientOptions,
  checkKey,
  createBrokerClient,
} from "./create-broker-client.ts";
export { readBrokerUrls } from "./endpoints.ts";
export { type ResponseListeners, responseListeners } from "./reply.ts";
export { commonNameOf } from "./tls-connections.ts";
