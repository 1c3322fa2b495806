import type { KubernetesNode, KubernetesPod, ObjectMeta } from "@resource-broker/base";

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

export interface Service extends KubernetesBase {
  readonly spec?: {
    readonly type?: string;
    readonly clusterIP?: string;
    readonly externalName?: string;
    readonly selector?: Readonly<Record<string, string>>;
    readonly ports?: readonly ServicePort[];
  };
  readonly status?: {
    readonly loadBalancer?: {
      readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[];
    };
  };
}

export interface ServicePort {
  readonly name?: string;
  readonly port: number;
  readonly protocol?: string;
  readonly targetPort?: number | string;
  readonly nodePort?: number;
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
export interface SelfSubjectReview {
  readonly status?: {
    readonly userInfo?: { readonly username?: string; readonly groups?: readonly string[] };
  };
}

/** Whether the caller has a permission. */
export interface SelfSubjectAccessReview {
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

export interface RoleBinding extends KubernetesBase {
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
