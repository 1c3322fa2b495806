import type { KubernetesNode, KubernetesPod, ObjectMeta } from "@resource-broker/base";
import { NODE_FIELDS, nodeFields, POD_FIELDS, podFields } from "../protobuf/core-fields.ts";
import type { Resource } from "./resource.ts";

/** A kind of Kubernetes itself: its plural is its name in small letters with an s. */
function builtIn<T>(apiVersion: string, kind: string, more: Partial<Resource<T>> = {}): Resource<T> {
  const [version = "", group = ""] = apiVersion.split("/").toReversed();
  return { group, version, kind, plural: `${kind.toLowerCase()}s`, isNamespaced: true, ...more };
}

const CLUSTER_WIDE = { isNamespaced: false } as const;
const QUESTION = { isNamespaced: false, isQuestion: true } as const;

export const PODS: Resource<Pod> = builtIn("v1", "Pod", { protobuf: POD_FIELDS });
export const NODES: Resource<Node> = builtIn("v1", "Node", { ...CLUSTER_WIDE, protobuf: NODE_FIELDS });
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
export const NAMESPACES: Resource<Namespace> = builtIn("v1", "Namespace", CLUSTER_WIDE);
export const CONFIG_MAPS: Resource<ConfigMap> = builtIn("v1", "ConfigMap");
export const SECRETS: Resource<Secret> = builtIn("v1", "Secret");
export const SERVICE_ACCOUNTS: Resource<ServiceAccount> = builtIn("v1", "ServiceAccount");
/** Of the core group: that is where `kubectl describe` looks; servers show the same objects in both groups. */
export const EVENTS: Resource<ClusterEvent> = builtIn("v1", "Event");
export const LEASES: Resource<Lease> = builtIn("coordination.k8s.io/v1", "Lease");
/** Every authenticated user may ask. Kubernetes 1.28 or newer. */
export const SELF_SUBJECT_REVIEWS: Resource<SelfSubjectReview> = builtIn(
  "authentication.k8s.io/v1",
  "SelfSubjectReview",
  QUESTION,
);
export const SELF_SUBJECT_ACCESS_REVIEWS: Resource<SelfSubjectAccessReview> = builtIn(
  "authorization.k8s.io/v1",
  "SelfSubjectAccessReview",
  QUESTION,
);
export const ROLE_BINDINGS: Resource<RoleBinding> = builtIn("rbac.authorization.k8s.io/v1", "RoleBinding");
export const CUSTOM_RESOURCE_DEFINITIONS: Resource<DefinedResource> = builtIn(
  "apiextensions.k8s.io/v1",
  "CustomResourceDefinition",
  CLUSTER_WIDE,
);

/** What every object has, whoever serves it. */
interface KubernetesBase {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

/** Identifies an object and its version. */
interface Identified {
  readonly metadata?: { readonly uid?: string; readonly resourceVersion?: string };
}

/** A pod as far as the accounting reads it. */
export type Pod = KubernetesPod & Identified;
/** A node as far as the accounting reads it. */
export type Node = KubernetesNode & Identified;

export interface Namespace extends KubernetesBase {
  readonly status?: { readonly phase?: string };
}

export interface ConfigMap extends KubernetesBase {
  readonly data?: Readonly<Record<string, string>>;
  /** Base64. */
  readonly binaryData?: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
}

export interface Secret extends KubernetesBase {
  readonly type?: string;
  /** Base64. */
  readonly data?: Readonly<Record<string, string>>;
  /** Plain text that the server takes in and never gives back. */
  readonly stringData?: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
}

export interface ServiceAccount extends KubernetesBase {
  readonly automountServiceAccountToken?: boolean;
}

/** Which object something is about. */
export interface ObjectReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly fieldPath?: string;
}

/** What `kubectl describe` shows below an object. */
export interface ClusterEvent extends KubernetesBase {
  readonly involvedObject: ObjectReference;
  readonly reason?: string;
  readonly message?: string;
  readonly type?: "Normal" | "Warning";
  readonly count?: number;
  readonly firstTimestamp?: string;
  readonly lastTimestamp?: string;
  readonly source?: { readonly component?: string; readonly host?: string };
  readonly eventTime?: string | null;
  readonly action?: string;
  readonly reportingComponent?: string;
  readonly reportingInstance?: string;
}

export interface Lease extends KubernetesBase {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    /** RFC 3339 with microseconds. */
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

/** The identity of the caller, as the API server sees it. */
interface SelfSubjectReview {
  readonly status?: {
    readonly userInfo?: { readonly username?: string; readonly groups?: readonly string[] };
  };
}

/** Whether the caller has a permission. */
interface SelfSubjectAccessReview {
  readonly spec?: {
    readonly resourceAttributes: {
      readonly verb: string;
      readonly group: string;
      readonly resource: string;
      readonly namespace?: string;
    };
  };
  readonly status?: { readonly allowed?: boolean };
}

interface RoleBinding extends KubernetesBase {
  readonly roleRef: { readonly apiGroup: string; readonly kind: string; readonly name: string };
  readonly subjects?: readonly { readonly apiGroup?: string; readonly kind: string; readonly name: string }[];
}

/** A definition as any server may hold it. */
export interface DefinedResource extends KubernetesBase {
  readonly spec: {
    readonly group: string;
    readonly scope: "Namespaced" | "Cluster";
    readonly names: { readonly kind: string; readonly plural: string; readonly singular?: string };
    readonly versions: readonly {
      readonly name: string;
      readonly served: boolean;
      readonly storage: boolean;
    }[];
  };
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
    readonly storedVersions?: readonly string[];
  };
}
