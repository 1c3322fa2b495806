import type { ResourceDefinition } from "../../api/definition.ts";
import { podGrace } from "../../api/pod-grace.ts";
import { admitWith } from "../admit-with.ts";
import { builtIn } from "../built-in.ts";
import { AGE, column, textOr, wideColumn } from "../columns.ts";
import { POD_SCHEMA } from "../schema/pod.ts";
import { completePod } from "./complete-pod.ts";
import { judgeBinding, judgePod } from "./judge-pod.ts";
import { podStatus, readinessGates, readyContainers, restarts } from "./pod-cells.ts";

const CONTAINER_LISTS = ["containers", "initContainers", "ephemeralContainers"] as const;
const CONTAINER_KEYS = {
  env: "name",
  ports: "containerPort",
  volumeMounts: "mountPath",
  volumeDevices: "devicePath",
} as const;

const mergeKeys: Record<string, string> = {
  "spec.volumes": "name",
  "spec.imagePullSecrets": "name",
  "spec.schedulingGates": "name",
  "spec.hostAliases": "ip",
  "spec.topologySpreadConstraints": "topologyKey",
  "spec.resourceClaims": "name",
  "status.conditions": "type",
  "status.podIPs": "ip",
  "status.hostIPs": "ip",
};
for (const list of CONTAINER_LISTS) {
  mergeKeys[`spec.${list}`] = "name";
  for (const [field, key] of Object.entries(CONTAINER_KEYS)) mergeKeys[`spec.${list}.${field}`] = key;
}

export const PODS: ResourceDefinition = {
  ...builtIn({
    kind: "Pod",
    plural: "pods",
    shortNames: ["po"],
    categories: ["all"],
    hasStatus: true,
    schema: POD_SCHEMA,
    complete: completePod,
    judge: judgePod,
    columns: [
      column("Ready", readyContainers, "How many of its containers are ready."),
      column("Status", podStatus, "Where it is in its life."),
      column("Restarts", restarts, "How often its containers were started again."),
      AGE,
      wideColumn("IP", textOr("status.podIP"), "Its address."),
      wideColumn("Node", textOr("spec.nodeName"), "The node it runs on."),
      wideColumn(
        "Nominated Node",
        textOr("status.nominatedNodeName"),
        "The node that others make room on for it.",
      ),
      wideColumn("Readiness Gates", readinessGates, "How many of its further conditions are met."),
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
    mergeKeys,
  }),
  graceSeconds: podGrace,
};

/** The same kind for the one writer that may name the node. */
export const PODS_TO_BIND: ResourceDefinition = {
  ...PODS,
  admit: admitWith({ schema: POD_SCHEMA, complete: completePod, judge: judgeBinding }),
};
