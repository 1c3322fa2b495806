import { parseQuantity } from "@resource-broker/base";
import { duplicate, invalid, required } from "../api/causes.ts";
import type { Cause, ResourceDefinition } from "../api/cluster-api.ts";
import {
  conditionOf,
  isList,
  isTerminating,
  type JsonObject,
  numberAt,
  objectAt,
  objectsAt,
  scalarText,
  textAt,
  valueAt,
} from "../json.ts";
import { AGE, builtIn, column, textOr, wideColumn } from "./built-in.ts";

const DEFAULT_GRACE_SECONDS = 30;
const LABEL = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/u;

/** Of the lists that kubectl patches and that are applied. */
const MERGE_KEYS: Readonly<Record<string, string>> = {
  "spec.containers": "name",
  "spec.containers.env": "name",
  "spec.containers.ports": "containerPort",
  "spec.containers.volumeMounts": "mountPath",
  "spec.initContainers": "name",
  "spec.schedulingGates": "name",
  "spec.volumes": "name",
  "status.conditions": "type",
};

export const PODS: ResourceDefinition = {
  ...builtIn({
    kind: "Pod",
    plural: "pods",
    shortNames: ["po"],
    categories: ["all"],
    hasStatus: true,
    complete: completePod,
    judge: judgePod,
    columns: [
      column("Ready", readyContainers),
      column("Status", podStatus),
      column("Restarts", restarts),
      AGE,
      wideColumn("IP", textOr("status.podIP")),
      wideColumn("Node", textOr("spec.nodeName")),
      wideColumn("Nominated Node", textOr("status.nominatedNodeName")),
      wideColumn("Readiness Gates", () => "<none>"),
    ],
    selectable: ["spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "status.phase", "status.podIP"],
    mergeKeys: MERGE_KEYS,
  }),
  graceSeconds: podGrace,
};

/** A pod that no node runs, or that has ended, has nobody to wait for. */
function podGrace(pod: JsonObject, asked: number | undefined): number {
  const hasEnded = ["Succeeded", "Failed"].includes(textAt(pod, "status.phase"));
  if (textAt(pod, "spec.nodeName") === "" || hasEnded) return 0;
  const own = valueAt(pod, "spec.terminationGracePeriodSeconds");
  const seconds = asked ?? (typeof own === "number" ? own : DEFAULT_GRACE_SECONDS);
  return seconds < 0 ? 1 : seconds;
}

/** Sets what was left open, as far as the scheduler, the kubelet and our programs read it. */
function completePod(object: JsonObject): JsonObject {
  const given = objectAt(object, "spec");
  const spec: JsonObject = {
    restartPolicy: "Always",
    terminationGracePeriodSeconds: DEFAULT_GRACE_SECONDS,
    schedulerName: "default-scheduler",
    ...given,
    ...containersOf(given, "containers"),
    ...containersOf(given, "initContainers"),
  };
  return { ...object, spec, status: { phase: "Pending", ...objectAt(object, "status") } };
}

function containersOf(spec: JsonObject, list: string): JsonObject {
  return isList(spec[list]) ? { [list]: objectsAt(spec, list).map(withRequests) } : {};
}

/** What has a limit and no request requests its limit. */
function withRequests(container: JsonObject): JsonObject {
  const resources = objectAt(container, "resources");
  const requests = { ...objectAt(resources, "limits"), ...objectAt(resources, "requests") };
  return {
    ...container,
    resources: { ...resources, ...(Object.keys(requests).length === 0 ? {} : { requests }) },
  };
}

function judgePod(object: JsonObject): readonly Cause[] {
  const names = new Set<string>();
  const spec = objectAt(object, "spec");
  const causes = ["initContainers", "containers"].flatMap((list) =>
    objectsAt(spec, list).flatMap((container, index) =>
      judgeContainer(container, `spec.${list}[${index}]`, names),
    ),
  );
  const isEmpty = isList(spec["containers"]) && spec["containers"].length === 0;
  return isEmpty ? [...causes, required("spec.containers")] : causes;
}

function judgeContainer(container: JsonObject, field: string, names: Set<string>): readonly Cause[] {
  const name = textAt(container, "name");
  const causes = textAt(container, "image") === "" ? [required(`${field}.image`)] : [];
  if (!LABEL.test(name)) causes.push(invalid(`${field}.name`, name, "a lowercase RFC 1123 label is needed"));
  if (names.has(name)) causes.push(duplicate(`${field}.name`, name));
  names.add(name);
  const requests = Object.entries(objectAt(container, "resources.requests"));
  const negative = requests.filter(([, value]) => {
    const parsed = parseQuantity(scalarText(value));
    return parsed.ok && parsed.quantity.digits < 0n;
  });
  const why = "must be greater than or equal to 0";
  return [
    ...causes,
    ...negative.map(([resource, value]) => invalid(`${field}.resources.requests[${resource}]`, value, why)),
  ];
}

function readyContainers(pod: JsonObject): string {
  const statuses = objectsAt(pod, "status.containerStatuses");
  const ready = statuses.filter((status) => status["ready"] === true).length;
  return `${ready}/${objectsAt(pod, "spec.containers").length}`;
}

function podStatus(pod: JsonObject): string {
  if (isTerminating(pod)) return "Terminating";
  if (conditionOf(pod, "PodScheduled")?.["reason"] === "SchedulingGated") return "SchedulingGated";
  const phase = textAt(pod, "status.phase");
  return phase === "Succeeded" ? "Completed" : phase;
}

function restarts(pod: JsonObject): string {
  const statuses = objectsAt(pod, "status.containerStatuses");
  return String(statuses.reduce((sum, status) => sum + numberAt(status, "restartCount"), 0));
}
