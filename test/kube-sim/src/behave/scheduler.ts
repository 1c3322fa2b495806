import type { Clock, Log } from "@resource-broker/base";
import type { ClusterApi, WatchChange } from "../api/cluster-api.ts";
import { timestamp } from "../api/context.ts";
import { nameOf, namespaceOf, objectsAt, textAt, valueAt } from "../core/look.ts";
import { PODS } from "../core/pods/pods.ts";
import type { JsonObject } from "../json.ts";
import { attempt } from "./attempt.ts";
import { bindPod } from "./bind-pod.ts";
import { chooseNode } from "./choose-node.ts";
import { hasEnded, type NodeCache } from "./node-cache.ts";
import { type Waiting, waiting } from "./pod-status.ts";

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
    const target = {
      definition: PODS,
      namespace: namespaceOf(pod),
      name: nameOf(pod),
      subresource: "status",
    } as const;
    api.update(target, { ...pod, status }, WRITE);
  };
  const place = (pod: JsonObject): void => {
    attempt(log, () => {
      if (objectsAt(pod, "spec.schedulingGates").length > 0) return tell(pod, GATED);
      const choice = chooseNode(pod, cache.nodes());
      if (choice.kind === "none") return tell(pod, { reason: "Unschedulable", message: choice.message });
      bindPod(api, {
        namespace: namespaceOf(pod),
        name: nameOf(pod),
        nodeName: choice.name,
        dryRun: false,
        by: WRITE.fieldManager,
      });
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
    valueAt(pod, "metadata.deletionTimestamp") === undefined &&
    !hasEnded(pod)
  );
}
