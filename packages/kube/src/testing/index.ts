export type { JsonPatchStep, ListQuery, WatchEvent, WatchQuery, WriteOptions } from "../client/client.ts";
export type { Material } from "../config/kube-config.ts";
export type { LeaderElection } from "../lease/leader-election.ts";
export { decodeMessage } from "../protobuf/decode-message.ts";
export type { MessageFields } from "../protobuf/fields.ts";
export { goSamples } from "../protobuf/testing/go-samples.ts";
export { projection } from "../protobuf/testing/projection.ts";
export type { DefinedResource, Namespace, Node } from "../resource/resources.ts";
