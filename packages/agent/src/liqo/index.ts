/** Liqo's kinds and labels, for programs that read or play Liqo: the test kit and the evaluation. */

export { liqoAccounting } from "./node-accounting.ts";
export {
  IDENTITIES,
  type Identity,
  RESOURCE_SLICES,
  type ResourceList,
  type ResourceSlice,
  type ResourceSliceCondition,
  TENANTS,
  type Tenant,
} from "./objects/authentication.ts";
export { FOREIGN_CLUSTERS, type ForeignCluster } from "./objects/core.ts";
export {
  LIQO_ANNOTATION,
  LIQO_LABEL,
  SLICE_CLASS,
  tenantNamespaceOf,
} from "./objects/labels.ts";
export {
  NAMESPACE_OFFLOADING_NAME,
  NAMESPACE_OFFLOADINGS,
  type NamespaceOffloading,
  type NodeSelectorRequirement,
  QUOTAS,
  type Quota,
  SHADOW_PODS,
  type ShadowPod,
  VIRTUAL_NODES,
  type VirtualNode,
} from "./objects/offloading.ts";
