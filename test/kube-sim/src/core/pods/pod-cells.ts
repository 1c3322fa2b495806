import type { JsonObject } from "../../json.ts";
import { ageOf } from "../../table/human-duration.ts";
import { conditionOf, numberAt, objectsAt, textAt, valueAt } from "../look.ts";

/** What `kubectl get pods` shows of a pod. */

export function readyContainers(pod: JsonObject): string {
  const statuses = objectsAt(pod, "status.containerStatuses");
  const ready = statuses.filter((status) => status["ready"] === true).length;
  return `${ready}/${objectsAt(pod, "spec.containers").length}`;
}

export function podStatus(pod: JsonObject): string {
  if (valueAt(pod, "metadata.deletionTimestamp") !== undefined)
    return textAt(pod, "status.reason") === "NodeLost" ? "Unknown" : "Terminating";
  return (
    waitingReason(pod, "initContainerStatuses", "Init:") ??
    waitingReason(pod, "containerStatuses", "") ??
    plainly(pod)
  );
}

function plainly(pod: JsonObject): string {
  const scheduled = conditionOf(pod, "PodScheduled");
  if (scheduled?.["reason"] === "SchedulingGated") return "SchedulingGated";
  const phase = textAt(pod, "status.phase");
  return textAt(pod, "status.reason") || (phase === "Succeeded" ? "Completed" : phase);
}

/** Why the first container that does not run does not run. */
function waitingReason(pod: JsonObject, list: string, prefix: string): string | undefined {
  for (const status of objectsAt(pod, `status.${list}`)) {
    const waiting = textAt(status, "state.waiting.reason");
    if (waiting !== "") return `${prefix}${waiting}`;
    const ended = textAt(status, "state.terminated.reason");
    const isInitDone = prefix !== "" && numberAt(status, "state.terminated.exitCode") === 0;
    if (ended !== "" && !isInitDone) return `${prefix}${ended}`;
  }
  return undefined;
}

export function restarts(pod: JsonObject, nowMs: number): string {
  const statuses = objectsAt(pod, "status.containerStatuses");
  const count = statuses.reduce((sum, status) => sum + numberAt(status, "restartCount"), 0);
  const ended = statuses.map((status) => textAt(status, "lastState.terminated.finishedAt")).sort();
  const last = ended.at(-1) ?? "";
  return count === 0 || last === "" ? String(count) : `${count} (${ageOf(last, nowMs)} ago)`;
}

export function readinessGates(pod: JsonObject): string {
  const gates = objectsAt(pod, "spec.readinessGates");
  if (gates.length === 0) return "<none>";
  const met = gates.filter((gate) => conditionOf(pod, textAt(gate, "conditionType"))?.["status"] === "True");
  return `${met.length}/${gates.length}`;
}
