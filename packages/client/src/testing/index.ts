export { type ClientOf, type ClientSetup, clientOf } from "./client-of.ts";
export {
  CURRENT,
  type Received,
  reply,
  type Script,
  type ScriptedBroker,
  scriptedBroker,
} from "./scripted-broker.ts";
