export type {
  ApplyOptions,
  CallOptions,
  DeleteOptions,
  JsonPatchStep,
  KubeClient,
  ListEnd,
  ListQuery,
  Patch,
  Selection,
  WatchEvent,
  WatchQuery,
  WriteOptions,
} from "./client/client.ts";
export { createKubeClient, type KubeClientDeps } from "./client/create-kube-client.ts";
export type { Environment } from "./config/in-cluster.ts";
export type {
  ExecCluster,
  ExecPlugin,
  KubeConfig,
  Login,
  Material,
  Trust,
  User,
} from "./config/kube-config.ts";
export { type Kubeconfig, mergeKubeconfigs, parseKubeconfig } from "./config/kubeconfig.ts";
export { type ConfigSources, loadKubeConfig } from "./config/load-kube-config.ts";
export { resolveContext } from "./config/resolve-context.ts";
export type {
  Reflector,
  ReflectorDeps,
  ReflectorHealth,
  ReflectorObserver,
  ReflectorOptions,
  Sink,
} from "./reflector/types.ts";
export { decodeMessage } from "./protobuf/decode-message.ts";
export type { Field, FieldKind, MessageFields } from "./protobuf/fields.ts";
export {
  type ListPage,
  type ListPageReader,
  listPageReader,
  readListPage,
} from "./protobuf/list-page.ts";
export { NODE_FIELDS, POD_FIELDS } from "./protobuf/core-fields.ts";
export { type ProtobufStatus, readStatus } from "./protobuf/status.ts";
export { type WatchFrame, type WatchFrames, watchFrames } from "./protobuf/watch-frames.ts";
export { customResource, type ObjectName, type Resource } from "./resource/resource.ts";
export type {
  ClusterEvent,
  ConfigMap,
  DefinedResource,
  Lease,
  Namespace,
  Node,
  ObjectReference,
  Pod,
  RoleBinding,
  Secret,
  SelfSubjectAccessReview,
  SelfSubjectReview,
  Service,
  ServiceAccount,
  ServicePort,
} from "./resource/object-types.ts";
export {
  CONFIG_MAPS,
  CUSTOM_RESOURCE_DEFINITIONS,
  EVENTS,
  LEASES,
  NAMESPACES,
  NODES,
  PODS,
  ROLE_BINDINGS,
  SECRETS,
  SELF_SUBJECT_ACCESS_REVIEWS,
  SELF_SUBJECT_REVIEWS,
  SERVICE_ACCOUNTS,
  SERVICES,
} from "./resource/resources.ts";
export { type Backoff, backoff, type BackoffDeps, type BackoffOptions, wait } from "./backoff/backoff.ts";
export type { EventInput } from "./events/event-body.ts";
export {
  type EventRecorder,
  type EventRecorderDeps,
  type EventRecorderOptions,
  eventRecorder,
} from "./events/event-recorder.ts";
export { reflector } from "./reflector/reflector.ts";
export {
  type CacheListener,
  type Informer,
  informer,
  type InformerOptions,
  type Named,
  type ObjectCache,
  objectKey,
} from "./informer/informer.ts";
export {
  type LeaderElection,
  type LeaderElectionDeps,
  type LeaderElectionOptions,
  leaderElection,
} from "./lease/leader-election.ts";
export {
  type WorkResult,
  type WorkQueue,
  type WorkQueueDeps,
  type WorkQueueObserver,
  type WorkQueueOptions,
  workQueue,
} from "./queue/work-queue.ts";
export {
  type Plan,
  reconcileLoop,
  type ReconcileLoopOptions,
  type Reconciler,
  reconciler,
  type ReconcilerDeps,
  type ReconcileResult,
  type ReconcilerOptions,
} from "./reconcile/reconciler.ts";
export { type FailureReporter, failureReporter, toFault } from "./backoff/failure-reporter.ts";
