import { conditionOf, objectAt, objectsAt, textAt } from "../core/look.ts";
import type { JsonObject } from "../json.ts";

/** Statuses that a node and a scheduler give a pod. Pure. */

interface Condition {
  readonly type: string;
  readonly status: "True" | "False";
  readonly reason?: string;
  readonly message?: string;
}

/** The pod's conditions with one of them set; its time moves only when it changes. */
function withCondition(pod: JsonObject, wanted: Condition, at: string): readonly JsonObject[] {
  const old = conditionOf(pod, wanted.type);
  const isChanged = old === undefined || old["status"] !== wanted.status;
  const condition: JsonObject = {
    ...wanted,
    lastProbeTime: null,
    lastTransitionTime: isChanged ? at : old["lastTransitionTime"],
  };
  const others = objectsAt(pod, "status.conditions").filter((one) => one["type"] !== wanted.type);
  return [...others, condition];
}

export interface Waiting {
  readonly reason: "Unschedulable" | "SchedulingGated";
  readonly message: string;
}

export function waiting(pod: JsonObject, why: Waiting, at: string): JsonObject {
  const conditions = withCondition(pod, { type: "PodScheduled", status: "False", ...why }, at);
  return { ...objectAt(pod, "status"), conditions };
}

export interface Started {
  readonly podIP: string;
  readonly hostIP: string;
  readonly at: string;
}

const RUNNING_CONDITIONS = [
  "PodReadyToStartContainers",
  "Initialized",
  "Ready",
  "ContainersReady",
  "PodScheduled",
];

export function running(pod: JsonObject, { podIP, hostIP, at }: Started): JsonObject {
  return {
    ...objectAt(pod, "status"),
    phase: "Running",
    conditions: RUNNING_CONDITIONS.map((type) => ({
      type,
      status: "True",
      lastProbeTime: null,
      lastTransitionTime: at,
    })),
    hostIP,
    hostIPs: [{ ip: hostIP }],
    podIP,
    podIPs: [{ ip: podIP }],
    startTime: at,
    containerStatuses: objectsAt(pod, "spec.containers").map((container) =>
      containerStatus(container, pod, { running: { startedAt: at } }),
    ),
    ...(objectsAt(pod, "spec.initContainers").length === 0
      ? {}
      : {
          initContainerStatuses: objectsAt(pod, "spec.initContainers").map((one) => initStatus(one, pod, at)),
        }),
  };
}

function initStatus(container: JsonObject, pod: JsonObject, at: string): JsonObject {
  const isSidecar = container["restartPolicy"] === "Always";
  const state = isSidecar
    ? { running: { startedAt: at } }
    : { terminated: { exitCode: 0, reason: "Completed", startedAt: at, finishedAt: at } };
  return containerStatus(container, pod, state);
}

function containerStatus(container: JsonObject, pod: JsonObject, state: JsonObject): JsonObject {
  const name = textAt(container, "name");
  const image = textAt(container, "image");
  return {
    name,
    ready: true,
    started: true,
    restartCount: 0,
    image,
    imageID: image,
    containerID: `kube-sim://${textAt(pod, "metadata.uid")}/${name}`,
    state,
    lastState: {},
  };
}
