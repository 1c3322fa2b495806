export { type Agent, type AppDeps, createAgent } from "./app.ts";
export type {
  DataPlane,
  DataPlaneState,
  DeliverySpec,
  Offload,
  ReleaseState,
} from "./data-plane/data-plane.ts";
export {
  IDENTITIES,
  type Identity,
  RESOURCE_SLICES,
  type ResourceList,
  type ResourceSlice,
  type ResourceSliceCondition,
  type Tenant,
  TENANTS,
} from "./liqo/objects/authentication.ts";
export { FOREIGN_CLUSTERS, type ForeignCluster } from "./liqo/objects/core.ts";
export {
  EXPIRES_AT_ANNOTATION,
  LIQO_ANNOTATION,
  LIQO_LABEL,
  RESERVATION_LABEL,
  SLICE_CLASS,
  tenantNamespaceOf,
} from "./liqo/objects/labels.ts";
export {
  NAMESPACE_OFFLOADING_NAME,
  NAMESPACE_OFFLOADINGS,
  type NamespaceOffloading,
  type NodeSelectorRequirement,
  type Quota,
  QUOTAS,
  SHADOW_PODS,
  type ShadowPod,
  VIRTUAL_NODES,
  type VirtualNode,
} from "./liqo/objects/offloading.ts";
export { readAgentSettings } from "./settings/read-agent-settings.ts";
export type {
  BrokerCommunicator,
  BrokerEvent,
  ResponseMetadata,
  Role,
} from "./transport/broker-communicator.ts";
export {
  type HttpCommunicatorDeps,
  type HttpCommunicatorOptions,
  httpCommunicator,
} from "./transport/http/http-communicator.ts";
