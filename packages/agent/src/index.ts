export { type Agent, type AppDeps, createAgent } from "./app.ts";
export { readAgentSettings } from "./settings/read-agent-settings.ts";
export type {
  BrokerEvent,
  BrokerTransport,
  ResponseMetadata,
  Role,
} from "./transport/broker-communicator.ts";
