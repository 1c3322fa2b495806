/** The part of an object's metadata that this project reads or writes. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** An object as the API server holds it. */
export interface KubernetesObject<Spec, Status> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly spec: Spec;
  readonly status?: Status;
}

/*
 * Below: the fields of pods and nodes that the accounting reads. Every field is optional: objects of newer or older servers
 * and partially decoded objects must still be counted.
 */

/** Quantities by resource name. The API server sends text; numbers are accepted as Kubernetes itself does. */
export type ResourceList = Readonly<Record<string, string | number>>;

interface KubernetesMetadata {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface KubernetesTaint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

export interface KubernetesNode {
  readonly metadata?: KubernetesMetadata;
  readonly spec?: { readonly unschedulable?: boolean; readonly taints?: readonly KubernetesTaint[] };
  readonly status?: {
    readonly capacity?: ResourceList;
    readonly allocatable?: ResourceList;
    readonly conditions?: readonly KubernetesCondition[];
  };
}

interface KubernetesCondition {
  readonly type: string;
  readonly status?: string;
  readonly reason?: string;
}

export interface KubernetesPod {
  readonly metadata?: KubernetesMetadata;
  readonly spec?: KubernetesPodSpec;
  readonly status?: KubernetesPodStatus;
}

export interface KubernetesPodSpec {
  readonly nodeName?: string;
  readonly containers?: readonly KubernetesContainer[];
  readonly initContainers?: readonly KubernetesContainer[];
  readonly overhead?: ResourceList;
  /** Pod-level resources. */
  readonly resources?: KubernetesResources;
  readonly schedulingGates?: readonly { readonly name?: string }[];
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly affinity?: { readonly nodeAffinity?: KubernetesNodeAffinity };
}

export interface KubernetesContainer {
  readonly name?: string;
  /** `Always` on an init container makes it a sidecar: it keeps running beside the app containers. */
  readonly restartPolicy?: string;
  readonly resources?: KubernetesResources;
}

interface KubernetesResources {
  readonly requests?: ResourceList;
}

export interface KubernetesPodStatus {
  readonly phase?: string;
  readonly conditions?: readonly KubernetesCondition[];
  readonly containerStatuses?: readonly KubernetesContainerStatus[];
  readonly initContainerStatuses?: readonly KubernetesContainerStatus[];
}

export interface KubernetesContainerStatus {
  readonly name?: string;
  /** What the kubelet has admitted. */
  readonly allocatedResources?: ResourceList;
  /** What the running container really has. */
  readonly resources?: KubernetesResources;
}

interface KubernetesNodeAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: {
    readonly nodeSelectorTerms?: readonly KubernetesNodeSelectorTerm[];
  };
}

export interface KubernetesNodeSelectorTerm {
  readonly matchExpressions?: readonly KubernetesNodeRequirement[];
  readonly matchFields?: readonly KubernetesNodeRequirement[];
}

export interface KubernetesNodeRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

const NAMESPACE_NAME = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/u;

export function isNamespaceName(text: string): boolean {
  return NAMESPACE_NAME.test(text);
}
