import {
  type KubernetesContainer,
  type KubernetesContainerStatus,
  type KubernetesPod,
  type KubernetesPodSpec,
  type KubernetesPodStatus,
  type ResourceList,
  type ResourceVector,
  resourceVector,
} from "@resource-broker/base";

/**
 * One pod and what it requests. The pods are written as an API server stores them (a limit has become a request),
 * and a real one accepts them: create the pod, then write its status. Quantities are compared, never their spelling.
 */
export interface PodCase {
  /** A sentence that completes "the pod request of …". */
  readonly name: string;
  readonly pod: KubernetesPod;
  readonly expected: ResourceVector;
  /**
   * What `kubectl describe node` leaves out of "Allocated resources" though the scheduler counts it: pod-level
   * requests before kubectl 1.36, in-place resizes since then.
   */
  readonly kubectlLeavesOut?: "pod-level" | "resize";
}

export const MI = 1024 ** 2;
export const GI = 1024 ** 3;

/** Overhead is set by a RuntimeClass: a real API server wants one of this name and overhead before the pod. */
export const SANDBOX_CLASS = "sandboxed";
export const SANDBOX_OVERHEAD: ResourceList = { cpu: "250m", memory: "120Mi" };

interface CaseParts extends KubernetesPodSpec {
  readonly runtimeClassName?: string;
  readonly status?: KubernetesPodStatus;
  readonly kubectlLeavesOut?: "pod-level" | "resize";
}

/** `[name, parts, expected amounts]`, as short as a row of a table can be. */
export type CaseRow = readonly [string, CaseParts, Partial<ResourceVector>];

export function podCase([name, parts, expected]: CaseRow): PodCase {
  const { status, kubectlLeavesOut, ...spec } = parts;
  return {
    name,
    pod: {
      metadata: { name: objectName(name), namespace: "default" },
      spec: { containers: [app({})], ...spec },
      status: { phase: "Running", ...status },
    },
    expected: resourceVector(expected),
    ...(kubectlLeavesOut === undefined ? {} : { kubectlLeavesOut }),
  };
}

interface RunnableContainer extends KubernetesContainer {
  readonly image: string;
  readonly resources: { readonly requests: ResourceList; readonly limits: ResourceList };
}

export function app(requests: ResourceList, name = "app"): RunnableContainer {
  const limits = Object.fromEntries(Object.entries(requests).filter(([resource]) => needsLimit(resource)));
  return { name, image: "pause", resources: { requests, limits } };
}

export const init = (requests: ResourceList, name = "init"): RunnableContainer => app(requests, name);

export const sidecar = (requests: ResourceList, name = "sidecar"): RunnableContainer => ({
  ...app(requests, name),
  restartPolicy: "Always",
});

/** A container's status under in-place resize: what the kubelet admitted, and what is actually set. */
export function resized(
  name: string,
  allocatedResources: ResourceList,
  actual: ResourceList = allocatedResources,
): KubernetesContainerStatus {
  return { name, allocatedResources, resources: { requests: actual } };
}

export const resizePending = (reason: "Infeasible" | "Deferred") => [
  { type: "PodResizePending", status: "True", reason },
];

/** Such resources must be limited to what is requested, or the API server refuses the pod. */
function needsLimit(resource: string): boolean {
  return resource.includes("/") || resource.startsWith("hugepages-");
}

function objectName(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, 63)
    .replace(/-$/, "");
}
