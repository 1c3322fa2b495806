import type { TableKind } from "../../protobuf/message-tables.ts";
import { MESSAGES } from "../../protobuf/tables.generated.ts";

/** A field of a message as it is read from a request. */
export interface BodyField {
  readonly number: number;
  readonly name: string;
  readonly kind: TableKind | "bytes-map" | "micro-time";
  readonly message?: string;
  readonly isRepeated?: boolean;
  /** Written also where nothing is set, so that an empty value says nothing. */
  readonly isAlways?: boolean;
  readonly isInline?: boolean;
}

type Shape = readonly [
  number: number,
  name: string,
  kind: BodyField["kind"] | { readonly message: string },
  "repeated"?,
];

function fields(...shapes: readonly Shape[]): readonly BodyField[] {
  return shapes.map(([number, name, kind, repeated]) => ({
    number,
    name,
    ...(typeof kind === "string" ? { kind } : { kind: "message", message: kind.message }),
    ...(repeated === undefined ? {} : { isRepeated: true }),
    isAlways: kind === "string" || kind === "int" || typeof kind !== "string",
  }));
}

const METADATA: Shape = [1, "metadata", { message: "ObjectMeta" }];

/**
 * What programs that use typed clients send beside pods and nodes: kubectl does for `create configmap` and its kin, for
 * evictions and for reviews.
 */
const MORE: Readonly<Record<string, readonly BodyField[]>> = {
  ConfigMap: fields(
    METADATA,
    [2, "data", "string-map"],
    [3, "binaryData", "bytes-map"],
    [4, "immutable", "bool"],
  ),
  Secret: fields(
    METADATA,
    [2, "data", "bytes-map"],
    [3, "type", "string"],
    [4, "stringData", "string-map"],
    [5, "immutable", "bool"],
  ),
  Namespace: fields(
    METADATA,
    [2, "spec", { message: "NamespaceSpec" }],
    [3, "status", { message: "NamespaceStatus" }],
  ),
  NamespaceSpec: fields([1, "finalizers", "string", "repeated"]),
  NamespaceStatus: fields([1, "phase", "string"]),
  ServiceAccount: fields(
    METADATA,
    [2, "secrets", { message: "ObjectReference" }, "repeated"],
    [3, "imagePullSecrets", { message: "LocalObjectReference" }, "repeated"],
    [4, "automountServiceAccountToken", "bool"],
  ),
  ObjectReference: fields(
    [1, "kind", "string"],
    [2, "namespace", "string"],
    [3, "name", "string"],
    [4, "uid", "string"],
    [5, "apiVersion", "string"],
    [6, "resourceVersion", "string"],
    [7, "fieldPath", "string"],
  ),
  Service: fields(
    METADATA,
    [2, "spec", { message: "ServiceSpec" }],
    [3, "status", { message: "ServiceStatus" }],
  ),
  ServiceStatus: fields([1, "loadBalancer", { message: "LoadBalancerStatus" }]),
  LoadBalancerStatus: [],
  ServiceSpec: fields(
    [1, "ports", { message: "ServicePort" }, "repeated"],
    [2, "selector", "string-map"],
    [3, "clusterIP", "string"],
    [4, "type", "string"],
    [5, "externalIPs", "string", "repeated"],
    [7, "sessionAffinity", "string"],
    [8, "loadBalancerIP", "string"],
    [9, "loadBalancerSourceRanges", "string", "repeated"],
    [10, "externalName", "string"],
    [11, "externalTrafficPolicy", "string"],
    [12, "healthCheckNodePort", "int"],
    [13, "publishNotReadyAddresses", "bool"],
    [17, "ipFamilyPolicy", "string"],
    [18, "clusterIPs", "string", "repeated"],
    [19, "ipFamilies", "string", "repeated"],
    [20, "allocateLoadBalancerNodePorts", "bool"],
    [21, "loadBalancerClass", "string"],
    [22, "internalTrafficPolicy", "string"],
    [23, "trafficDistribution", "string"],
  ),
  ServicePort: fields(
    [1, "name", "string"],
    [2, "protocol", "string"],
    [3, "port", "int"],
    [4, "targetPort", "int-or-string"],
    [5, "nodePort", "int"],
    [6, "appProtocol", "string"],
  ),
  Lease: fields(METADATA, [2, "spec", { message: "LeaseSpec" }]),
  LeaseSpec: fields(
    [1, "holderIdentity", "string"],
    [2, "leaseDurationSeconds", "int"],
    [3, "acquireTime", "micro-time"],
    [4, "renewTime", "micro-time"],
    [5, "leaseTransitions", "int"],
    [6, "strategy", "string"],
    [7, "preferredHolder", "string"],
  ),
  Event: fields(
    METADATA,
    [2, "involvedObject", { message: "ObjectReference" }],
    [3, "reason", "string"],
    [4, "message", "string"],
    [5, "source", { message: "EventSource" }],
    [6, "firstTimestamp", "time"],
    [7, "lastTimestamp", "time"],
    [8, "count", "int"],
    [9, "type", "string"],
    [10, "eventTime", "micro-time"],
    [12, "action", "string"],
    [13, "related", { message: "ObjectReference" }],
    [14, "reportingComponent", "string"],
    [15, "reportingInstance", "string"],
  ),
  EventSource: fields([1, "component", "string"], [2, "host", "string"]),
  Binding: fields(METADATA, [2, "target", { message: "ObjectReference" }]),
  Eviction: fields(METADATA, [2, "deleteOptions", { message: "DeleteOptions" }]),
  DeleteOptions: fields(
    [1, "gracePeriodSeconds", "int"],
    [2, "preconditions", { message: "Preconditions" }],
    [3, "orphanDependents", "bool"],
    [4, "propagationPolicy", "string"],
    [5, "dryRun", "string", "repeated"],
  ).map((field) => ({ ...field, isAlways: false })),
  Preconditions: fields([1, "uid", "string"], [2, "resourceVersion", "string"]),
  SelfSubjectReview: fields(METADATA, [2, "status", { message: "SelfSubjectReviewStatus" }]),
  SelfSubjectReviewStatus: fields([1, "userInfo", { message: "UserInfo" }]),
  UserInfo: fields([1, "username", "string"], [2, "uid", "string"], [3, "groups", "string", "repeated"]),
  SelfSubjectAccessReview: fields(
    METADATA,
    [2, "spec", { message: "SelfSubjectAccessReviewSpec" }],
    [3, "status", { message: "SubjectAccessReviewStatus" }],
  ),
  SelfSubjectAccessReviewSpec: fields(
    [1, "resourceAttributes", { message: "ResourceAttributes" }],
    [2, "nonResourceAttributes", { message: "NonResourceAttributes" }],
  ),
  ResourceAttributes: fields(
    [1, "namespace", "string"],
    [2, "verb", "string"],
    [3, "group", "string"],
    [4, "version", "string"],
    [5, "resource", "string"],
    [6, "subresource", "string"],
    [7, "name", "string"],
  ),
  NonResourceAttributes: fields([1, "path", "string"], [2, "verb", "string"]),
  SubjectAccessReviewStatus: fields(
    [1, "allowed", "bool"],
    [2, "reason", "string"],
    [3, "evaluationError", "string"],
    [4, "denied", "bool"],
  ),
};

export function fieldsOf(message: string): readonly BodyField[] | undefined {
  if (Object.hasOwn(MORE, message)) return MORE[message];
  return Object.hasOwn(MESSAGES, message) ? MESSAGES[message] : undefined;
}

/** The kinds that a request may carry as protobuf. */
const KINDS: ReadonlySet<string> = new Set([
  "Binding",
  "ConfigMap",
  "DeleteOptions",
  "Event",
  "Eviction",
  "Lease",
  "Namespace",
  "Node",
  "Pod",
  "Secret",
  "SelfSubjectAccessReview",
  "SelfSubjectReview",
  "Service",
  "ServiceAccount",
]);

export function isReadable(kind: string): boolean {
  return KINDS.has(kind);
}
