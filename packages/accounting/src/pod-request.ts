import {
  add,
  type KubernetesContainer,
  type KubernetesContainerStatus,
  type KubernetesPod,
  fastEquals,
  larger,
  type MutableVector,
  NO_RESOURCES,
  type ResourceList,
  type ResourceVector,
  resourceVector,
} from "@resource-broker/base";
import {
  type CountedResources,
  DEFAULT_COUNTED_RESOURCES,
  overwriteAmounts,
  type QuantityReading,
  quantityReading,
  readVector,
} from "./counted-resources.ts";

export interface PodRequest {
  readonly request: ResourceVector;
  /** Quantities that could not be read; they are missing in `request`. */
  readonly problems: readonly string[];
}

const NOTHING: PodRequest = { request: NO_RESOURCES, problems: [] };

/**
 * What kube-scheduler (1.34) sets aside for a pod on its node; nothing for a pod that has ended.
 * Limits do not matter: the API server has already turned a limit without a request into a request.
 * Fractions of a byte are rounded up per container, so a pod may count a byte more than there, never less.
 */
export function podRequest(
  pod: KubernetesPod,
  resources: CountedResources = DEFAULT_COUNTED_RESOURCES,
): PodRequest {
  if (isTerminal(pod)) return NOTHING;
  const reading = quantityReading(resources, "up");
  const containers = withPodLevel(containersRequest(pod, reading), pod, reading);
  const overhead = readVector(reading, pod.spec?.overhead, "spec.overhead");
  return { request: sumOf(containers, overhead), problems: reading.problems };
}

/** The pod has ended and will not run again, so nothing is set aside for it. */
export function isTerminal(pod: KubernetesPod): boolean {
  return pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
}

/**
 * The most the containers need at any one time: either all app containers and sidecars together, or one
 * init container beside the sidecars that were started before it.
 */
function containersRequest(pod: KubernetesPod, reading: QuantityReading): ResourceVector {
  let running = NO_RESOURCES;
  for (const container of pod.spec?.containers ?? []) {
    const wanted = statedRequest(container, reading, "containers");
    running = sumOf(running, effectiveRequest(pod, { container, wanted }, reading));
  }
  let sidecars = NO_RESOURCES;
  let initializing = NO_RESOURCES;
  for (const container of pod.spec?.initContainers ?? []) {
    const wanted = statedRequest(container, reading, "initContainers");
    // Ordinary init containers cannot be resized.
    const request = isSidecar(container) ? effectiveRequest(pod, { container, wanted }, reading) : wanted;
    const besideSidecars = sumOf(sidecars, request);
    initializing = largerOf(initializing, besideSidecars);
    if (!isSidecar(container)) continue;
    sidecars = besideSidecars;
    running = sumOf(running, request);
  }
  return largerOf(running, initializing);
}

const STATED_AT = {
  containers: "spec.containers[*].resources.requests",
  initContainers: "spec.initContainers[*].resources.requests",
} as const;

function statedRequest(
  container: KubernetesContainer,
  reading: QuantityReading,
  list: keyof typeof STATED_AT,
): ResourceVector {
  reading.container = container.name;
  return readVector(reading, container.resources?.requests, STATED_AT[list]);
}

/**
 * A container's request under in-place resize. Until the kubelet has carried a resize out, the larger of what is
 * wanted, admitted and actually set counts; when it has found the resize infeasible, what is wanted does not.
 * A status without `resources` comes from a kubelet that does not resize: then only the spec counts.
 */
function effectiveRequest(
  pod: KubernetesPod,
  { container, wanted }: { readonly container: KubernetesContainer; readonly wanted: ResourceVector },
  reading: QuantityReading,
): ResourceVector {
  const status = statusOf(pod, container);
  if (!status?.resources) return wanted;
  const { allocatedResources, resources } = status;
  // The usual case: no resize is in progress, so the three equal lists are parsed once.
  const stated = container.resources?.requests;
  if (isSameText(stated, allocatedResources) && isSameText(stated, resources.requests)) return wanted;
  const admitted = readVector(reading, allocatedResources, "status of container *: allocatedResources");
  const actual = readVector(reading, resources.requests, "status of container *: resources.requests");
  const held = largerOf(admitted, actual);
  return isResizeInfeasible(pod) ? held : largerOf(wanted, held);
}

function isSameText(a: ResourceList | undefined, b: ResourceList | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  for (const name in a) if (a[name] !== b[name]) return false;
  for (const name in b) if (a[name] === undefined) return false;
  return true;
}

/** Container names are unique in a pod across both lists. */
function statusOf(pod: KubernetesPod, container: KubernetesContainer): KubernetesContainerStatus | undefined {
  const ofContainer = (status: KubernetesContainerStatus) => status.name === container.name;
  return (
    pod.status?.containerStatuses?.find(ofContainer) ?? pod.status?.initContainerStatuses?.find(ofContainer)
  );
}

function isSidecar(container: KubernetesContainer): boolean {
  return container.restartPolicy === "Always";
}

function isResizeInfeasible(pod: KubernetesPod): boolean {
  const pending = pod.status?.conditions?.find((condition) => condition.type === "PodResizePending");
  return pending?.reason === "Infeasible";
}

/** A pod-level request replaces the containers' sum, for the resources that can be stated there. */
function withPodLevel(
  containers: ResourceVector,
  pod: KubernetesPod,
  reading: QuantityReading,
): ResourceVector {
  const stated = pod.spec?.resources?.requests;
  if (!stated) return containers;
  const supported = Object.entries(stated).filter(([name]) => isPodLevelResource(name));
  if (supported.length === 0) return containers;
  const amounts: MutableVector = { ...containers, extended: { ...containers.extended } };
  const list = Object.fromEntries(supported);
  overwriteAmounts(reading, amounts, { list, where: "spec.resources.requests" });
  return resourceVector(amounts);
}

function isPodLevelResource(name: string): boolean {
  return name === "cpu" || name === "memory" || name.startsWith("hugepages-");
}

/** Most pods have one container and no resize, so most sums need no computation. */
function sumOf(a: ResourceVector, b: ResourceVector): ResourceVector {
  if (b === NO_RESOURCES) return a;
  return a === NO_RESOURCES ? b : add(a, b);
}

function largerOf(a: ResourceVector, b: ResourceVector): ResourceVector {
  if (b === NO_RESOURCES || fastEquals(a, b)) return a;
  return a === NO_RESOURCES ? b : larger(a, b);
}
