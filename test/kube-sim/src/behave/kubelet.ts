import type { WatchChange } from "../api/cluster-api.ts";
import { timestamp } from "../api/registry.ts";
import { PODS } from "../core/pods.ts";
import {
  conditionOf,
  isTerminating,
  type JsonObject,
  nameOf,
  objectAt,
  objectsAt,
  textAt,
  uidOf,
  valueAt,
} from "../json.ts";
import { attempt, type BehaviourDeps, type NodeCache, targetOf } from "./scheduler.ts";

/** Stands for the kubelets of all nodes: starts pods that have a node, ends those that are deleted. */
export interface Kubelet {
  readonly onPod: (change: WatchChange) => void;
  /** `before`: what was known of the node. */
  readonly onNode: (change: WatchChange, before: JsonObject | undefined) => void;
}

const WRITE = { dryRun: false, fieldManager: "kubelet", fieldValidation: "Ignore" } as const;
const AT_ONCE = { dryRun: false, gracePeriodSeconds: 0 } as const;
/** How long containers take to start, and to end. */
const START_MS = 200;
const END_MS = 200;

export function createKubelet(cache: NodeCache, { api, clock, log }: BehaviourDeps): Kubelet {
  /** Uids of pods that something is planned for. */
  const planned = new Set<string>();
  let addresses = 0;

  const later = (pod: JsonObject, delayMs: number, act: (pod: JsonObject) => void): void => {
    const uid = uidOf(pod);
    if (planned.has(uid)) return;
    planned.add(uid);
    clock.after(delayMs, () => {
      planned.delete(uid);
      attempt(log, () => {
        const now = api.get(targetOf(pod));
        if (uidOf(now) === uid) act(now);
      });
    });
  };
  const start = (pod: JsonObject): void => {
    const node = cache.node(textAt(pod, "spec.nodeName"));
    if (node === undefined || !isReady(node) || !isStartable(pod)) return consider(pod);
    const started = {
      podIP: podAddress(++addresses),
      hostIP: addressOf(node),
      at: timestamp(clock.wallMs()),
    };
    api.update({ ...targetOf(pod), subresource: "status" }, { ...pod, status: running(pod, started) }, WRITE);
  };
  const end = (pod: JsonObject): void => {
    api.delete(targetOf(pod), AT_ONCE);
  };
  const consider = (pod: JsonObject): void => {
    const node = cache.node(textAt(pod, "spec.nodeName"));
    if (node === undefined) return;
    if (isTerminating(pod)) {
      if (valueAt(pod, "metadata.deletionGracePeriodSeconds") !== 0) later(pod, END_MS, end);
    } else if (isReady(node) && isStartable(pod)) later(pod, START_MS, start);
  };
  const podsOn = (nodeName: string): readonly JsonObject[] =>
    api.list({ definition: PODS }, { fieldSelector: `spec.nodeName=${nodeName}` }).items;
  return {
    onPod: ({ type, object }) => {
      if (type !== "DELETED") consider(object);
    },
    onNode: ({ type, object }, before) => {
      const isBack = isReady(object) && (before === undefined || !isReady(before));
      if (type === "DELETED") for (const pod of podsOn(nameOf(object))) later(pod, END_MS, end);
      else if (isBack) for (const pod of podsOn(nameOf(object))) consider(pod);
    },
  };
}

function isStartable(pod: JsonObject): boolean {
  return textAt(pod, "status.phase") === "Pending" && !isTerminating(pod);
}

function isReady(node: JsonObject): boolean {
  return conditionOf(node, "Ready")?.["status"] === "True";
}

function addressOf(node: JsonObject): string {
  const internal = objectsAt(node, "status.addresses").find((one) => one["type"] === "InternalIP");
  return textAt(internal, "address") || "127.0.0.1";
}

/** 10.128.0.1, 10.128.0.2 …: room for eight million pods. */
function podAddress(count: number): string {
  return `10.${128 + ((count >> 16) & 0x7f)}.${(count >> 8) & 0xff}.${count & 0xff}`;
}

interface Started {
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

function running(pod: JsonObject, { podIP, hostIP, at }: Started): JsonObject {
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
    podIP,
    startTime: at,
    containerStatuses: objectsAt(pod, "spec.containers").map((container) =>
      containerStatus(container, pod, at),
    ),
  };
}

function containerStatus(container: JsonObject, pod: JsonObject, startedAt: string): JsonObject {
  const name = textAt(container, "name");
  const image = textAt(container, "image");
  return {
    name,
    ready: true,
    started: true,
    restartCount: 0,
    image,
    imageID: image,
    containerID: `kube-sim://${uidOf(pod)}/${name}`,
    state: { running: { startedAt } },
  };
}
