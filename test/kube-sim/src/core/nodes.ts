import type { Cause } from "../api/definition.ts";
import { duplicate } from "../crd/causes.ts";
import type { JsonObject } from "../json.ts";
import { builtIn } from "./built-in.ts";
import { AGE, column, textOr, wideColumn } from "./columns.ts";
import { conditionOf, objectAt, objectsAt, scalarText, textAt, valueAt } from "./look.ts";
import { NODE_SCHEMA } from "./schema/node.ts";

const ROLE_PREFIX = "node-role.kubernetes.io/";

export const NODES = builtIn({
  kind: "Node",
  plural: "nodes",
  shortNames: ["no"],
  isNamespaced: false,
  hasStatus: true,
  schema: NODE_SCHEMA,
  complete: (object) => ({ ...object, spec: objectAt(object, "spec"), status: objectAt(object, "status") }),
  judge: judgeTaints,
  columns: [
    column("Status", nodeStatus, "Whether it takes pods."),
    column("Roles", roles, "What it is for."),
    AGE,
    column("Version", textOr("status.nodeInfo.kubeletVersion", ""), "The version of its kubelet."),
    wideColumn("Internal-IP", address("InternalIP"), "Its address inside the cluster."),
    wideColumn("External-IP", address("ExternalIP"), "Its address for others."),
    wideColumn("OS-Image", textOr("status.nodeInfo.osImage", "<unknown>"), "Its system."),
    wideColumn("Kernel-Version", textOr("status.nodeInfo.kernelVersion", "<unknown>"), "Its kernel."),
    wideColumn(
      "Container-Runtime",
      textOr("status.nodeInfo.containerRuntimeVersion", "<unknown>"),
      "What runs its containers.",
    ),
  ],
  selectable: ["spec.unschedulable"],
  mergeKeys: { "status.conditions": "type", "status.addresses": "type" },
});

function nodeStatus(object: JsonObject): string {
  const ready = conditionOf(object, "Ready")?.["status"];
  const words = [ready === undefined ? "Unknown" : ready === "True" ? "Ready" : "NotReady"];
  if (valueAt(object, "spec.unschedulable") === true) words.push("SchedulingDisabled");
  return words.join(",");
}

function roles(object: JsonObject): string {
  const labels = Object.entries(objectAt(object, "metadata.labels"));
  const found = labels.flatMap(([key, value]) => {
    if (key.startsWith(ROLE_PREFIX)) return [key.slice(ROLE_PREFIX.length)];
    return key === "kubernetes.io/role" ? [scalarText(value)] : [];
  });
  return [...new Set(found)].sort().join(",") || "<none>";
}

function address(type: string): (object: JsonObject) => string {
  return (object) => {
    const found = objectsAt(object, "status.addresses").find((one) => one["type"] === type);
    return textAt(found, "address") || "<none>";
  };
}

function judgeTaints(object: JsonObject): readonly Cause[] {
  const seen = new Set<string>();
  return objectsAt(object, "spec.taints").flatMap((taint, index) => {
    const field = `spec.taints[${index}]`;
    const name = `${textAt(taint, "key")}:${textAt(taint, "effect")}`;
    if (seen.has(name)) return [duplicate(field, taint)];
    seen.add(name);
    return [];
  });
}
