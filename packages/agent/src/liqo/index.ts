/** Liqo's kinds and labels, for programs that read Liqo's objects: the test kit, the real Liqo's tests and the evaluation. */

export { liqoAccounting } from "./node-accounting.ts";
export {
  FOREIGN_CLUSTERS,
  IDENTITIES,
  LIQO_LABEL,
  NAMESPACE_OFFLOADINGS,
  QUOTAS,
  RESOURCE_SLICES,
  type ResourceList,
  type ResourceSlice,
  SLICE_CLASS,
  tenantNamespaceOf,
  TENANTS,
  VIRTUAL_NODES,
} from "./objects.ts";
export { creatorUserOf } from "./provider/liqo-informers.ts";
