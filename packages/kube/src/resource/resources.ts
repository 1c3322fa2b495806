import { NODE_FIELDS, nodeFields, POD_FIELDS, podFields } from "../protobuf/core-fields.ts";
import type {
  ClusterEvent,
  ConfigMap,
  DefinedResource,
  Lease,
  Namespace,
  Node,
  Pod,
  RoleBinding,
  Secret,
  SelfSubjectAccessReview,
  SelfSubjectReview,
  Service,
  ServiceAccount,
} from "./object-types.ts";
import type { Resource } from "./resource.ts";

const CORE = { group: "", version: "v1" } as const;

export const PODS: Resource<Pod> = {
  ...CORE,
  kind: "Pod",
  plural: "pods",
  isNamespaced: true,
  protobuf: POD_FIELDS,
};
export const NODES: Resource<Node> = {
  ...CORE,
  kind: "Node",
  plural: "nodes",
  isNamespaced: false,
  protobuf: NODE_FIELDS,
};
/**
 * Pods of which lists and watches read these labels only: most of a large cluster's pods have many others. Make it once:
 * the decoder keeps a plan for each table of fields.
 */
export function podsWithLabels(labels: readonly string[]): Resource<Pod> {
  return { ...PODS, protobuf: podFields(labels) };
}
/** The same for nodes. */
export function nodesWithLabels(labels: readonly string[]): Resource<Node> {
  return { ...NODES, protobuf: nodeFields(labels) };
}
export const NAMESPACES: Resource<Namespace> = {
  ...CORE,
  kind: "Namespace",
  plural: "namespaces",
  isNamespaced: false,
};
export const CONFIG_MAPS: Resource<ConfigMap> = {
  ...CORE,
  kind: "ConfigMap",
  plural: "configmaps",
  isNamespaced: true,
};
export const SECRETS: Resource<Secret> = { ...CORE, kind: "Secret", plural: "secrets", isNamespaced: true };
export const SERVICES: Resource<Service> = {
  ...CORE,
  kind: "Service",
  plural: "services",
  isNamespaced: true,
};
export const SERVICE_ACCOUNTS: Resource<ServiceAccount> = {
  ...CORE,
  kind: "ServiceAccount",
  plural: "serviceaccounts",
  isNamespaced: true,
};
/** Of the core group: that is where `kubectl describe` looks; servers show the same objects in both groups. */
export const EVENTS: Resource<ClusterEvent> = {
  ...CORE,
  kind: "Event",
  plural: "events",
  isNamespaced: true,
};
export const LEASES: Resource<Lease> = {
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  isNamespaced: true,
};
/** Every authenticated user may ask. Kubernetes 1.28 or newer. */
export const SELF_SUBJECT_REVIEWS: Resource<SelfSubjectReview> = {
  group: "authentication.k8s.io",
  version: "v1",
  kind: "SelfSubjectReview",
  plural: "selfsubjectreviews",
  isNamespaced: false,
  isQuestion: true,
};
export const SELF_SUBJECT_ACCESS_REVIEWS: Resource<SelfSubjectAccessReview> = {
  group: "authorization.k8s.io",
  version: "v1",
  kind: "SelfSubjectAccessReview",
  plural: "selfsubjectaccessreviews",
  isNamespaced: false,
  isQuestion: true,
};
export const ROLE_BINDINGS: Resource<RoleBinding> = {
  group: "rbac.authorization.k8s.io",
  version: "v1",
  kind: "RoleBinding",
  plural: "rolebindings",
  isNamespaced: true,
};
export const CUSTOM_RESOURCE_DEFINITIONS: Resource<DefinedResource> = {
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  isNamespaced: false,
};
