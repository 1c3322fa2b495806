import {
  add,
  larger,
  NO_RESOURCES,
  type ResourceVector,
  resourceVector,
} from "../resources/resource-vector.ts";
import {
  type Amounts,
  type CountedResources,
  DEFAULT_COUNTED_RESOURCES,
  type QuantityReader,
  quantityReader,
} from "./counted-resources.ts";
import type { KubernetesContainer, KubernetesContainerStatus, KubernetesPod } from "./kubernetes.ts";

export interface PodRequest {
  readonly request: ResourceVector;
  /** Quantities that could not be read; they count as zero. */
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
  const reader = quantityReader(resources, "up");
  const containers = withPodLevel(containersRequest(pod, reader), pod, reader);
  const overhead = pod.spec?.overhead;
  const request = overhead ? add(containers, reader.vector(overhead, "spec.overhead")) : containers;
  return { request, problems: reader.problems };
}

/** The pod has ended and will not run again, so nothing is set aside for it. */
export function isTerminal(pod: KubernetesPod): boolean {
  return pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
}

/**
 * The most the containers need at any one time: either all app containers and sidecars together, or one
 * init container beside the sidecars that were started before it.
 */
function containersRequest(pod: KubernetesPod, reader: QuantityReader): ResourceVector {
  const requestOf = effectiveRequests(pod, reader);
  let running = NO_RESOURCES;
  for (const container of pod.spec?.containers ?? []) {
    running = add(running, requestOf(container, "containers"));
  }
  let sidecars = NO_RESOURCES;
  let initializing = NO_RESOURCES;
  for (const container of pod.spec?.initContainers ?? []) {
    const request = requestOf(container, "initContainers");
    const besideSidecars = add(sidecars, request);
    initializing = larger(initializing, besideSidecars);
    if (!isSidecar(container)) continue;
    sidecars = besideSidecars;
    running = add(running, request);
  }
  return larger(running, initializing);
}

type ContainerList = "containers" | "initContainers";

/**
 * A container's request under in-place resize. Until the kubelet has carried a resize out, the larger of what is
 * wanted, admitted and actually set counts; when it has found the resize infeasible, what is wanted does not.
 * Ordinary init containers cannot be resized. A status without `resources` comes from a kubelet that does not
 * resize: then only the spec counts.
 */
function effectiveRequests(pod: KubernetesPod, reader: QuantityReader) {
  const infeasible = isResizeInfeasible(pod);
  return (container: KubernetesContainer, list: ContainerList): ResourceVector => {
    const place = `spec.${list}[${container.name ?? ""}].resources.requests`;
    const wanted = reader.vector(container.resources?.requests, place);
    if (list === "initContainers" && !isSidecar(container)) return wanted;
    const status = statusOf(pod, container);
    if (!status?.resources) return wanted;
    const statusPlace = `status of container ${container.name ?? ""}`;
    const admitted = reader.vector(status.allocatedResources, `${statusPlace}: allocatedResources`);
    const actual = reader.vector(status.resources.requests, `${statusPlace}: resources.requests`);
    const held = larger(admitted, actual);
    return infeasible ? held : larger(wanted, held);
  };
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
  reader: QuantityReader,
): ResourceVector {
  const stated = pod.spec?.resources?.requests;
  if (!stated) return containers;
  const supported = Object.entries(stated).filter(([name]) => isPodLevelResource(name));
  if (supported.length === 0) return containers;
  const amounts: Amounts = { ...containers, extended: { ...containers.extended } };
  reader.overwrite(amounts, Object.fromEntries(supported), "spec.resources.requests");
  return resourceVector(amounts);
}

function isPodLevelResource(name: string): boolean {
  return name === "cpu" || name === "memory" || name.startsWith("hugepages-");
}
