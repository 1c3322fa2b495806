export { createKubeSim } from "./create-kube-sim.ts";
export type { JsonObject, JsonValue } from "./json.ts";
export type { ClusterOptions, FailNext, KubeSim, KubeSimDeps, SimCluster, SimKnobs } from "./kube-sim.ts";
export { encodeList, encodeObject, encodeReply, encodeWatchFrame } from "./protobuf/encode.ts";
