import { createHash } from "node:crypto";
import type { Cause } from "../api/definition.ts";
import { duplicate, invalid, required } from "../crd/causes.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { builtIn } from "./built-in.ts";
import { AGE, column, textOr, wideColumn } from "./columns.ts";
import { nameOf, namespaceOf, numberAt, objectAt, objectsAt, scalarText, textAt, textsAt } from "./look.ts";
import { SERVICE_SCHEMA } from "./schema/small-kinds.ts";

export const SERVICES = builtIn({
  kind: "Service",
  plural: "services",
  shortNames: ["svc"],
  categories: ["all"],
  hasStatus: true,
  schema: SERVICE_SCHEMA,
  complete,
  judge,
  columns: [
    column("Type", textOr("spec.type"), "Where it can be reached from."),
    column("Cluster-IP", textOr("spec.clusterIP"), "Its address inside the cluster."),
    column("External-IP", externalAddress, "Where it is reached from outside."),
    column("Port(s)", ports, "Its ports."),
    AGE,
    wideColumn("Selector", selector, "Labels of the pods behind it."),
  ],
  selectable: ["spec.clusterIP", "spec.type"],
  mergeKeys: { "spec.ports": "port", "status.conditions": "type" },
});

/** The same service gets the same address and ports again: nothing has to be remembered. */
function fingerprint(object: JsonObject, purpose: string): number {
  const named = `${purpose}/${namespaceOf(object)}/${nameOf(object)}`;
  return createHash("sha256").update(named).digest().readUInt32BE(0);
}

function clusterAddress(object: JsonObject): string {
  const host = 11 + (fingerprint(object, "address") % 65_000);
  return `10.96.${host >> 8}.${host & 0xff}`;
}

const OPEN_TYPES: ReadonlySet<string> = new Set(["NodePort", "LoadBalancer"]);

function complete(object: JsonObject): JsonObject {
  const spec = objectAt(object, "spec");
  const type = textAt(spec, "type") || "ClusterIP";
  const common = { sessionAffinity: "None", ...spec, type };
  const status = { loadBalancer: {}, ...objectAt(object, "status") };
  if (type === "ExternalName") return { ...object, spec: common, status };
  const clusterIP = textAt(spec, "clusterIP") || clusterAddress(object);
  const completed = objectsAt(spec, "ports").map((port, index) => completePort(object, port, index));
  return {
    ...object,
    spec: {
      internalTrafficPolicy: "Cluster",
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
      ...(OPEN_TYPES.has(type) ? { externalTrafficPolicy: "Cluster" } : {}),
      ...common,
      ...(completed.length === 0 ? {} : { ports: completed }),
      clusterIP,
      clusterIPs: [clusterIP],
    },
    status,
  };
}

function completePort(object: JsonObject, port: JsonObject, index: number): JsonObject {
  const isOpen = OPEN_TYPES.has(textAt(object, "spec.type"));
  const nodePort = 30_000 + (fingerprint(object, `port ${index}`) % 2768);
  return {
    protocol: "TCP",
    targetPort: port["port"],
    ...(isOpen ? { nodePort } : {}),
    ...port,
  };
}

function judge(object: JsonObject): readonly Cause[] {
  const spec = objectAt(object, "spec");
  const list = objectsAt(spec, "ports");
  const isExternal = spec["type"] === "ExternalName";
  if (isExternal && textAt(spec, "externalName") === "") return [required("spec.externalName")];
  const needsPorts = !isExternal && spec["clusterIP"] !== "None";
  if (needsPorts && list.length === 0) return [required("spec.ports")];
  const names = list.map((port) => textAt(port, "name"));
  return list.flatMap((port, index) => [
    ...outOfRange(port["port"], `spec.ports[${index}].port`),
    ...(list.length > 1 && names[index] === "" ? [required(`spec.ports[${index}].name`)] : []),
    ...(names[index] !== "" && names.indexOf(names[index] ?? "") < index
      ? [duplicate(`spec.ports[${index}].name`, names[index] ?? "")]
      : []),
  ]);
}

/** Zero is an absent port, which the schema refuses. */
function outOfRange(port: JsonValue | undefined, field: string): readonly Cause[] {
  if (typeof port !== "number" || (port >= 0 && port <= 65_535)) return [];
  return [invalid(field, port, "must be between 1 and 65535, inclusive")];
}

function externalAddress(object: JsonObject): string {
  const type = textAt(object, "spec.type");
  if (type === "ExternalName") return textAt(object, "spec.externalName");
  const fixed = textsAt(object, "spec.externalIPs");
  const given = objectsAt(object, "status.loadBalancer.ingress").map(
    (ingress) => textAt(ingress, "ip") || textAt(ingress, "hostname"),
  );
  const all = [...fixed, ...given].join(",");
  return all || (type === "LoadBalancer" ? "<pending>" : "<none>");
}

function ports(object: JsonObject): string {
  const texts = objectsAt(object, "spec.ports").map((port) => {
    const open = numberAt(port, "nodePort");
    return `${numberAt(port, "port")}${open === 0 ? "" : `:${open}`}/${textAt(port, "protocol")}`;
  });
  return texts.join(",") || "<none>";
}

function selector(object: JsonObject): string {
  const labels = Object.entries(objectAt(object, "spec.selector"));
  return labels.map(([key, value]) => `${key}=${scalarText(value)}`).join(",") || "<none>";
}
