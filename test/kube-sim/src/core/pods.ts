import { compareQuantities, parseQuantity, type Quantity } from "@resource-broker/base";
import { duplicate, forbidden, invalid, required } from "../api/causes.ts";
import type { Cause, ResourceDefinition } from "../api/cluster-api.ts";
import {
  conditionOf,
  isList,
  isSame,
  type JsonObject,
  type JsonValue,
  numberAt,
  objectAt,
  objectsAt,
  scalarText,
  textAt,
  valueAt,
} from "../json.ts";
import { admitWith, AGE, builtIn, column, messageSchema, textOr, wideColumn } from "./built-in.ts";
import { ageOf } from "./human-duration.ts";

const DEFAULT_GRACE_SECONDS = 30;
const NODE_CONDITION_TOLERATION_SECONDS = 300;
const LABEL = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/u;

const CONTAINER_KEYS = {
  env: "name",
  ports: "containerPort",
  volumeMounts: "mountPath",
  volumeDevices: "devicePath",
} as const;
const MERGE_KEYS: Readonly<Record<string, string>> = {
  "spec.volumes": "name",
  "spec.imagePullSecrets": "name",
  "spec.schedulingGates": "name",
  "spec.hostAliases": "ip",
  "spec.topologySpreadConstraints": "topologyKey",
  "spec.resourceClaims": "name",
  "status.conditions": "type",
  "status.podIPs": "ip",
  "status.hostIPs": "ip",
  ...Object.fromEntries(
    ["containers", "initContainers", "ephemeralContainers"].flatMap((list): [string, string][] => [
      [`spec.${list}`, "name"],
      ...Object.entries(CONTAINER_KEYS).map(([field, key]): [string, string] => [
        `spec.${list}.${field}`,
        key,
      ]),
    ]),
  ),
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
    selectable: [
      "spec.nodeName",
      "spec.restartPolicy",
      "spec.schedulerName",
      "spec.serviceAccountName",
      "spec.hostNetwork",
      "status.phase",
      "status.podIP",
      "status.nominatedNodeName",
    ],
    mergeKeys: MERGE_KEYS,
  }),
  graceSeconds: podGrace,
};

/** The same kind for the one writer that may name the node: the scheduler. */
export const PODS_TO_BIND: ResourceDefinition = {
  ...PODS,
  admit: admitWith(messageSchema("Pod"), {
    complete: completePod,
    judge: (object, old) => judgePod(object, old && withNode(old, textAt(object, "spec.nodeName"))),
  }),
};

function withNode(pod: JsonObject, nodeName: string): JsonObject {
  return { ...pod, spec: { ...objectAt(pod, "spec"), nodeName } };
}

/** A pod that no node runs, or that has ended, has nobody to wait for. */
function podGrace(pod: JsonObject, asked: number | undefined): number {
  const hasEnded = ["Succeeded", "Failed"].includes(textAt(pod, "status.phase"));
  if (textAt(pod, "spec.nodeName") === "" || hasEnded) return 0;
  const own = valueAt(pod, "spec.terminationGracePeriodSeconds");
  const seconds = asked ?? (typeof own === "number" ? own : DEFAULT_GRACE_SECONDS);
  return seconds < 0 ? 1 : seconds;
}

/** Sets what was left open, as the API server and its usual admission plugins do. */
function completePod(object: JsonObject): JsonObject {
  const given = objectAt(object, "spec");
  const serviceAccountName = textAt(given, "serviceAccountName") || "default";
  const spec: JsonObject = {
    restartPolicy: "Always",
    terminationGracePeriodSeconds: DEFAULT_GRACE_SECONDS,
    dnsPolicy: "ClusterFirst",
    schedulerName: "default-scheduler",
    securityContext: {},
    enableServiceLinks: true,
    preemptionPolicy: "PreemptLowerPriority",
    priority: 0,
    ...given,
    serviceAccountName,
    serviceAccount: serviceAccountName,
    ...containersOf(given, "containers"),
    ...containersOf(given, "initContainers"),
    tolerations: withDefaultTolerations(given["tolerations"]),
  };
  const status = { phase: "Pending", ...objectAt(object, "status") };
  return { ...object, spec, status: { ...status, qosClass: qosClassOf(spec) } };
}

function containersOf(spec: JsonObject, list: string): JsonObject {
  return isList(spec[list]) ? { [list]: objectsAt(spec, list).map(completeContainer) } : {};
}

function completeContainer(container: JsonObject): JsonObject {
  const resources = objectAt(container, "resources");
  const requests = { ...objectAt(resources, "limits"), ...objectAt(resources, "requests") };
  return {
    imagePullPolicy: /:(?!latest$)[^/]+$/u.test(textAt(container, "image")) ? "IfNotPresent" : "Always",
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    ...container,
    resources: { ...resources, ...(Object.keys(requests).length === 0 ? {} : { requests }) },
    ...(isList(container["ports"])
      ? { ports: objectsAt(container, "ports").map((port) => ({ protocol: "TCP", ...port })) }
      : {}),
  };
}

function withDefaultTolerations(given: JsonValue | undefined): readonly JsonValue[] {
  const tolerations = isList(given) ? given : [];
  const missing = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"].filter(
    (key) => !tolerations.some((one) => [key, ""].includes(textAt(one, "key"))),
  );
  const tolerationSeconds = NODE_CONDITION_TOLERATION_SECONDS;
  return [
    ...tolerations,
    ...missing.map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds })),
  ];
}

function qosClassOf(spec: JsonObject): string {
  const containers = [...objectsAt(spec, "containers"), ...objectsAt(spec, "initContainers")];
  const amounts = containers.flatMap((container) =>
    ["cpu", "memory"].map((resource) => ({
      request: amount(valueAt(container, `resources.requests.${resource}`)),
      limit: amount(valueAt(container, `resources.limits.${resource}`)),
    })),
  );
  if (amounts.every(({ request, limit }) => isNothing(request) && isNothing(limit))) return "BestEffort";
  const isGuaranteed = amounts.every(
    ({ request, limit }) => !isNothing(limit) && compareQuantities(request, limit) === 0,
  );
  return isGuaranteed ? "Guaranteed" : "Burstable";
}

function amount(value: JsonValue | undefined): Quantity {
  const parsed = parseQuantity(scalarText(value));
  return parsed.ok ? parsed.quantity : { digits: 0n, scale: 0, format: "DecimalSI" };
}

function isNothing({ digits }: Quantity): boolean {
  return digits === 0n;
}

const UPDATES =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`," +
  "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
  "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

function judgePod(object: JsonObject, old: JsonObject | undefined): readonly Cause[] {
  const names = new Set<string>();
  const spec = objectAt(object, "spec");
  const causes = ["initContainers", "containers"].flatMap((list) =>
    objectsAt(spec, list).flatMap((container, index) =>
      judgeContainer(container, `spec.${list}[${index}]`, names),
    ),
  );
  if (isList(spec["containers"]) && spec["containers"].length === 0) causes.push(required("spec.containers"));
  const isMoved = old !== undefined && !isSame(fixedPart(object, old), fixedPart(old, old));
  return isMoved ? [...causes, forbidden("spec", UPDATES)] : causes;
}

function judgeContainer(container: JsonObject, field: string, names: Set<string>): readonly Cause[] {
  const name = textAt(container, "name");
  const causes = textAt(container, "image") === "" ? [required(`${field}.image`)] : [];
  if (!LABEL.test(name)) causes.push(invalid(`${field}.name`, name, "a lowercase RFC 1123 label is needed"));
  if (names.has(name)) causes.push(duplicate(`${field}.name`, name));
  names.add(name);
  const requests = Object.entries(objectAt(container, "resources.requests"));
  const negative = requests.filter(([, value]) => amount(value).digits < 0n);
  const why = "must be greater than or equal to 0";
  return [
    ...causes,
    ...negative.map(([resource, value]) => invalid(`${field}.resources.requests[${resource}]`, value, why)),
  ];
}

/** The spec without what may change: images, tolerations, and gates that are taken away. */
function fixedPart(pod: JsonObject, old: JsonObject): JsonObject {
  const {
    activeDeadlineSeconds: _deadline,
    tolerations: _tolerations,
    ephemeralContainers: _ephemeral,
    schedulingGates,
    ...spec
  } = objectAt(pod, "spec");
  const before = objectsAt(old, "spec.schedulingGates").map((gate) => textAt(gate, "name"));
  const gates = objectsAt({ schedulingGates }, "schedulingGates").map((gate) => textAt(gate, "name"));
  return {
    ...spec,
    containers: withoutImages(spec, "containers"),
    initContainers: withoutImages(spec, "initContainers"),
    newGates: gates.filter((name) => !before.includes(name)),
  };
}

function withoutImages(spec: JsonObject, list: string): readonly JsonObject[] {
  return objectsAt(spec, list).map(({ image: _image, imagePullPolicy: _policy, ...rest }) => rest);
}

function readyContainers(pod: JsonObject): string {
  const statuses = objectsAt(pod, "status.containerStatuses");
  const ready = statuses.filter((status) => status["ready"] === true).length;
  return `${ready}/${objectsAt(pod, "spec.containers").length}`;
}

function podStatus(pod: JsonObject): string {
  if (valueAt(pod, "metadata.deletionTimestamp") !== undefined) return "Terminating";
  const states = objectsAt(pod, "status.containerStatuses").map((status) => objectAt(status, "state"));
  const stopped = states.map(
    (state) => textAt(state, "waiting.reason") || textAt(state, "terminated.reason"),
  );
  const isGated = conditionOf(pod, "PodScheduled")?.["reason"] === "SchedulingGated";
  const phase = textAt(pod, "status.phase");
  return (
    stopped.find((reason) => reason !== "") ??
    (isGated
      ? "SchedulingGated"
      : textAt(pod, "status.reason") || (phase === "Succeeded" ? "Completed" : phase))
  );
}

function restarts(pod: JsonObject, nowMs: number): string {
  const statuses = objectsAt(pod, "status.containerStatuses");
  const count = statuses.reduce((sum, status) => sum + numberAt(status, "restartCount"), 0);
  const last =
    statuses
      .map((status) => textAt(status, "lastState.terminated.finishedAt"))
      .sort()
      .at(-1) ?? "";
  return count === 0 || last === "" ? String(count) : `${count} (${ageOf(last, nowMs)} ago)`;
}
