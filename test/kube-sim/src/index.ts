export type {
  ClusterApi,
  CollectionTarget,
  DeleteOptions,
  ListQuery,
  ListResult,
  PatchBody,
  Target,
  WatchChange,
  WriteOptions,
  Written,
} from "./api/cluster-api.ts";
export type { ResourceDefinition } from "./api/cluster-api.ts";
export { StatusError } from "./api/statuses.ts";
export { createKubeSim } from "./create-kube-sim.ts";
export type { JsonObject, JsonValue } from "./json.ts";
export type { ClusterOptions, FailNext, KubeSim, KubeSimDeps, SimCluster, SimFaults } from "./kube-sim.ts";
export { encodeList, encodeWatchFrame } from "./protobuf/encode.ts";
