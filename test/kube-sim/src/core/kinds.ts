import { invalid } from "../api/causes.ts";
import type { ResourceDefinition } from "../api/cluster-api.ts";
import { admitDefinition } from "../crd/definition.ts";
import {
  conditionOf,
  type JsonObject,
  nameOf,
  numberAt,
  objectAt,
  objectsAt,
  textAt,
  valueAt,
} from "../json.ts";
import { AGE, builtIn, column, textOr, wideColumn } from "./built-in.ts";
import { CONFIG_MAPS, SECRETS } from "./config-maps.ts";
import { ageOf } from "./human-duration.ts";
import { PODS } from "./pods.ts";

const ROLE_PREFIX = "node-role.kubernetes.io/";

export const NODES = builtIn({
  kind: "Node",
  plural: "nodes",
  shortNames: ["no"],
  isNamespaced: false,
  hasStatus: true,
  complete: (object) => ({ ...object, spec: objectAt(object, "spec"), status: objectAt(object, "status") }),
  columns: [
    column("Status", nodeStatus),
    column("Roles", roles),
    AGE,
    column("Version", textOr("status.nodeInfo.kubeletVersion", "")),
    wideColumn("Internal-IP", address("InternalIP")),
    wideColumn("External-IP", address("ExternalIP")),
    wideColumn("OS-Image", textOr("status.nodeInfo.osImage", "<unknown>")),
    wideColumn("Kernel-Version", textOr("status.nodeInfo.kernelVersion", "<unknown>")),
    wideColumn("Container-Runtime", textOr("status.nodeInfo.containerRuntimeVersion", "<unknown>")),
  ],
  selectable: ["spec.unschedulable"],
  mergeKeys: { "status.conditions": "type", "status.addresses": "type" },
});

function nodeStatus(object: JsonObject): string {
  const ready = conditionOf(object, "Ready")?.["status"];
  const word = ready === undefined ? "Unknown" : ready === "True" ? "Ready" : "NotReady";
  return valueAt(object, "spec.unschedulable") === true ? `${word},SchedulingDisabled` : word;
}

function roles(object: JsonObject): string {
  const labels = Object.keys(objectAt(object, "metadata.labels"));
  const found = labels.filter((label) => label.startsWith(ROLE_PREFIX));
  return found.map((label) => label.slice(ROLE_PREFIX.length)).join(",") || "<none>";
}

function address(type: string): (object: JsonObject) => string {
  return (object) => {
    const found = objectsAt(object, "status.addresses").find((one) => one["type"] === type);
    return textAt(found, "address") || "<none>";
  };
}

export const NAMESPACES = builtIn({
  kind: "Namespace",
  plural: "namespaces",
  shortNames: ["ns"],
  isNamespaced: false,
  hasStatus: true,
  complete: (object, old) =>
    completeNamespace(object, old === undefined ? { finalizers: ["kubernetes"] } : objectAt(old, "spec")),
  columns: [column("Status", textOr("status.phase")), AGE],
  selectable: ["status.phase"],
});

function completeNamespace(object: JsonObject, spec: JsonObject): JsonObject {
  const metadata = objectAt(object, "metadata");
  const labels = { ...objectAt(metadata, "labels"), "kubernetes.io/metadata.name": nameOf(object) };
  const status = { phase: "Active", ...objectAt(object, "status") };
  return { ...object, metadata: { ...metadata, labels }, spec, status };
}

export const SERVICE_ACCOUNTS = builtIn({
  kind: "ServiceAccount",
  plural: "serviceaccounts",
  shortNames: ["sa"],
  columns: [column("Secrets", (object) => objectsAt(object, "secrets").length), AGE],
  mergeKeys: { secrets: "name", imagePullSecrets: "name" },
});

const LEASES = builtIn({
  group: "coordination.k8s.io",
  kind: "Lease",
  plural: "leases",
  updates: { allowsBlindUpdate: false },
  judge: (object) => {
    const seconds = valueAt(object, "spec.leaseDurationSeconds") ?? 1;
    if (typeof seconds === "number" && seconds > 0) return [];
    return [invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0")];
  },
  columns: [column("Holder", textOr("spec.holderIdentity", "")), AGE],
});

const EVENTS = builtIn({
  kind: "Event",
  plural: "events",
  shortNames: ["ev"],
  judge: (object) => {
    const about = textAt(object, "involvedObject.namespace");
    const own = textAt(object, "metadata.namespace");
    if (about === own || (about === "" && own === "default")) return [];
    return [invalid("involvedObject.namespace", about, "does not match event.namespace")];
  },
  columns: [
    column("Last Seen", (object, nowMs) =>
      ageOf(textAt(object, "lastTimestamp") || textAt(object, "eventTime"), nowMs),
    ),
    column("Type", textOr("type", "")),
    column("Reason", textOr("reason", "")),
    column("Object", (object) => {
      const about = objectAt(object, "involvedObject");
      return `${textAt(about, "kind").toLowerCase()}/${textAt(about, "name")}`;
    }),
    wideColumn("Source", textOr("source.component", "")),
    column("Message", (object) => textAt(object, "message").trim()),
    wideColumn("Count", (object) => Math.max(1, numberAt(object, "count"))),
    { ...wideColumn("Name", textOr("metadata.name")), format: "name" },
  ],
  selectable: [
    ..."kind namespace name uid apiVersion resourceVersion fieldPath"
      .split(" ")
      .map((name) => `involvedObject.${name}`),
    "reason",
    "reportingComponent",
    "type",
  ],
});

const ANYTHING: JsonObject = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

const CUSTOM_RESOURCE_DEFINITIONS: ResourceDefinition = {
  ...builtIn({
    group: "apiextensions.k8s.io",
    kind: "CustomResourceDefinition",
    plural: "customresourcedefinitions",
    shortNames: ["crd", "crds"],
    isNamespaced: false,
    hasStatus: true,
    hasGeneration: true,
    updates: { allowsBlindUpdate: false },
    schema: { type: "object", properties: { spec: ANYTHING, status: ANYTHING } },
    columns: [column("Created At", textOr("metadata.creationTimestamp", ""))],
  }),
  admit: admitDefinition,
};

/** The kinds that every cluster has from the start. Shared by all clusters of a process. */
export const CORE_DEFINITIONS: readonly ResourceDefinition[] = [
  CONFIG_MAPS,
  CUSTOM_RESOURCE_DEFINITIONS,
  EVENTS,
  LEASES,
  NAMESPACES,
  NODES,
  PODS,
  SECRETS,
  SERVICE_ACCOUNTS,
];
