import type { Clock, Log } from "@resource-broker/base";
import type { ClusterApi, Target, WatchChange } from "../api/cluster-api.ts";
import { timestamp } from "../api/registry.ts";
import { StatusError } from "../api/statuses.ts";
import { PODS } from "../core/pods.ts";
import {
  conditionOf,
  isSame,
  isTerminating,
  type JsonObject,
  nameOf,
  namespaceOf,
  objectAt,
  objectsAt,
  textAt,
} from "../json.ts";
import {
  allocatableOf,
  type Amounts,
  chooseNode,
  minus,
  type NodeState,
  NOTHING,
  plus,
  requestsOf,
} from "./choose-node.ts";

export interface BehaviourDeps {
  readonly api: ClusterApi;
  readonly clock: Clock;
  readonly log?: Log | undefined;
}

/** Binds pods that wait for a node to one that fits, and tells those that fit nowhere why. */
export interface Scheduler {
  readonly onPod: (change: WatchChange) => void;
  /** Tries again those that did not fit. */
  readonly retry: () => void;
}

const WRITE = { dryRun: false, fieldManager: "kube-scheduler", fieldValidation: "Ignore" } as const;
/** Changes come in bursts: one round serves them all. */
const ROUND_MS = 50;
/** Why a pod has no node. */
interface Waiting {
  readonly reason: "Unschedulable" | "SchedulingGated";
  readonly message: string;
}

const GATED: Waiting = {
  reason: "SchedulingGated",
  message: "Scheduling is blocked due to non-empty scheduling gates",
};

export function createScheduler(cache: NodeCache, { api, clock, log }: BehaviourDeps): Scheduler {
  const pending = new Map<string, JsonObject>();
  let isPlanned = false;

  const round = (): void => {
    isPlanned = false;
    for (const pod of pending.values()) place(pod);
  };
  const plan = (): void => {
    if (isPlanned || pending.size === 0) return;
    isPlanned = true;
    clock.after(ROUND_MS, round);
  };
  const tell = (pod: JsonObject, why: Waiting): void => {
    const status = waiting(pod, why, timestamp(clock.wallMs()));
    api.update({ ...targetOf(pod), subresource: "status" }, { ...pod, status }, WRITE);
  };
  const place = (pod: JsonObject): void => {
    attempt(log, () => {
      if (objectsAt(pod, "spec.schedulingGates").length > 0) return tell(pod, GATED);
      const choice = chooseNode(pod, cache.nodes());
      if (choice.kind === "none") return tell(pod, { reason: "Unschedulable", message: choice.message });
      bindPod(api, targetOf(pod), choice.name);
      return undefined;
    });
  };
  return {
    onPod: ({ type, object }) => {
      const key = `${namespaceOf(object)}/${nameOf(object)}`;
      if (type === "DELETED" || !isWaiting(object)) {
        pending.delete(key);
        return;
      }
      const isNew = !pending.has(key);
      const hadGates = objectsAt(pending.get(key), "spec.schedulingGates").length > 0;
      pending.set(key, object);
      if (isNew || (hadGates && objectsAt(object, "spec.schedulingGates").length === 0)) plan();
    },
    retry: plan,
  };
}

function isWaiting(pod: JsonObject): boolean {
  return (
    textAt(pod, "spec.nodeName") === "" &&
    textAt(pod, "spec.schedulerName") === "default-scheduler" &&
    !isTerminating(pod) &&
    !hasEnded(pod)
  );
}

export function targetOf(pod: JsonObject): Target {
  return { definition: PODS, namespace: namespaceOf(pod), name: nameOf(pod) };
}

/** The pod's status with the reason why it waits; the time moves only when the condition changes. */
function waiting(pod: JsonObject, why: Waiting, at: string): JsonObject {
  const old = conditionOf(pod, "PodScheduled");
  const condition: JsonObject = {
    type: "PodScheduled",
    status: "False",
    ...why,
    lastProbeTime: null,
    lastTransitionTime: old?.["status"] === "False" ? old["lastTransitionTime"] : at,
  };
  const others = objectsAt(pod, "status.conditions").filter((one) => one["type"] !== "PodScheduled");
  return { ...objectAt(pod, "status"), conditions: [...others, condition] };
}

/** Gives a pod its node, once. */
function bindPod(api: ClusterApi, target: Target, nodeName: string): void {
  const pod = api.get(target);
  if (textAt(pod, "spec.nodeName") !== "") return;
  const bound = { ...pod, spec: { ...objectAt(pod, "spec"), nodeName } };
  api.update(target, bound, WRITE);
}

/** Writes of the cluster's own controllers: who loses a race hears of it by the next change. */
export function attempt(log: Log | undefined, action: () => void): void {
  try {
    action();
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    const isRace = error.code === 404 || error.code === 409;
    if (!isRace) log?.warn({ status: error.status }, "the simulated cluster refuses its own controller");
  }
}

/** What is known of nodes and of what runs on them, kept up to date change by change. */
export interface NodeCache {
  /** True if pods may fit now that did not before. */
  readonly onNode: (change: WatchChange) => boolean;
  /** True if a node has more room than before. */
  readonly onPod: (change: WatchChange) => boolean;
  readonly nodes: () => readonly NodeState[];
  readonly node: (name: string) => JsonObject | undefined;
}

interface Placed {
  readonly nodeName: string;
  readonly requests: Amounts;
}

export function createNodeCache(): NodeCache {
  const nodes = new Map<string, JsonObject>();
  const allocatable = new Map<string, Amounts>();
  const used = new Map<string, Amounts>();
  const placed = new Map<string, Placed>();

  const remove = (key: string): boolean => {
    const before = placed.get(key);
    if (before === undefined) return false;
    placed.delete(key);
    used.set(before.nodeName, minus(used.get(before.nodeName) ?? NOTHING, before.requests));
    return true;
  };
  const place = (key: string, pod: JsonObject): void => {
    const nodeName = textAt(pod, "spec.nodeName");
    const requests = requestsOf(pod);
    placed.set(key, { nodeName, requests });
    used.set(nodeName, plus(used.get(nodeName) ?? NOTHING, requests));
  };
  return {
    onNode: ({ type, object }) => {
      const name = nameOf(object);
      const before = nodes.get(name);
      if (type === "DELETED") {
        nodes.delete(name);
        allocatable.delete(name);
        return false;
      }
      nodes.set(name, object);
      allocatable.set(name, allocatableOf(object));
      return before === undefined || !isSame(substance(before), substance(object));
    },
    onPod: ({ type, object }) => {
      const key = `${namespaceOf(object)}/${nameOf(object)}`;
      if (type === "DELETED" || hasEnded(object)) return remove(key);
      if (!placed.has(key) && textAt(object, "spec.nodeName") !== "") place(key, object);
      return false;
    },
    nodes: () =>
      [...nodes].map(([name, node]) => ({
        node,
        allocatable: allocatable.get(name) ?? NOTHING,
        used: used.get(name) ?? NOTHING,
      })),
    node: (name) => nodes.get(name),
  };
}

function hasEnded(pod: JsonObject): boolean {
  const phase = textAt(pod, "status.phase");
  return phase === "Succeeded" || phase === "Failed";
}

/** What decides on pods; a heartbeat does not. */
function substance(node: JsonObject): JsonObject {
  const status = objectAt(node, "status");
  return {
    spec: node["spec"],
    labels: objectAt(node, "metadata.labels"),
    allocatable: status["allocatable"],
    conditions: objectsAt(status, "conditions").map(
      (condition) => `${textAt(condition, "type")}=${textAt(condition, "status")}`,
    ),
  };
}
