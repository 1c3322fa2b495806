export { type Backoff, backoff, wait } from "./backoff/backoff.ts";
export { failureReporter } from "./backoff/failure-reporter.ts";
export { type Loop, loop } from "./backoff/loop.ts";
export type { KubeClient, Patch, Selection } from "./client/client.ts";
export { createKubeClient, type KubeClientDeps } from "./client/create-kube-client.ts";
export type { KubeConfig } from "./config/kube-config.ts";
export { parseKubeconfig } from "./config/kubeconfig.ts";
export { type ConfigSources, type Environment, loadKubeConfig } from "./config/load-kube-config.ts";
export { resolveContext } from "./config/resolve-context.ts";
export type { EventInput } from "./events/event-body.ts";
export { type EventRecorder, eventRecorder } from "./events/event-recorder.ts";
export { type Informer, informer, type Named, type ObjectCache, objectKey } from "./informer/informer.ts";
export { leaderElection } from "./lease/leader-election.ts";
export { leaseCandidate } from "./lease/lease-candidate.ts";
export { type ReconcileResult, type Reconciler, reconcileLoop } from "./reconcile/reconciler.ts";
export { reflector } from "./reflector/reflector.ts";
export type { Reflector, ReflectorDeps, ReflectorHealth, ReflectorOptions, Sink } from "./reflector/types.ts";
export { customResource, type ObjectName, type Resource } from "./resource/resource.ts";
export {
  type ClusterEvent,
  CONFIG_MAPS,
  type ConfigMap,
  CUSTOM_RESOURCE_DEFINITIONS,
  EVENTS,
  type Lease,
  LEASES,
  NAMESPACES,
  NODES,
  nodesWithLabels,
  type Pod,
  PODS,
  podsWithLabels,
  ROLE_BINDINGS,
  type Secret,
  SECRETS,
  SELF_SUBJECT_ACCESS_REVIEWS,
  SELF_SUBJECT_REVIEWS,
  SERVICE_ACCOUNTS,
  type ServiceAccount,
} from "./resource/resources.ts";
