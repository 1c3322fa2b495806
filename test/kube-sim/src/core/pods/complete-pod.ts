import { compareQuantities, parseQuantity } from "@resource-broker/base";
import type { JsonObject, JsonValue } from "../../json.ts";
import { isList, objectAt, objectsAt, textAt, valueAt } from "../look.ts";

const NODE_CONDITION_TOLERATION_SECONDS = 300;

/** Sets what was left open, as the API server and its usual admission plugins do. */
export function completePod(object: JsonObject): JsonObject {
  const given = objectAt(object, "spec");
  const serviceAccountName =
    textAt(given, "serviceAccountName") || textAt(given, "serviceAccount") || "default";
  const spec: JsonObject = {
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
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
    ...containersOf(given, "ephemeralContainers"),
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
  const limits = objectAt(resources, "limits");
  const requests = { ...limits, ...objectAt(resources, "requests") };
  const { ports } = container;
  return {
    imagePullPolicy: pullPolicy(textAt(container, "image")),
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    ...container,
    resources: { ...resources, ...(Object.keys(requests).length === 0 ? {} : { requests }) },
    ...(isList(ports)
      ? { ports: objectsAt(container, "ports").map((port) => ({ protocol: "TCP", ...port })) }
      : {}),
  };
}

/** `name:latest` and a name alone mean whatever is newest, so it is fetched each time. */
function pullPolicy(image: string): string {
  const name = image.slice(image.lastIndexOf("/") + 1);
  const isPinned = name.includes("@") || (name.includes(":") && !name.endsWith(":latest"));
  return isPinned ? "IfNotPresent" : "Always";
}

function withDefaultTolerations(given: JsonValue | undefined): readonly JsonValue[] {
  const tolerations = isList(given) ? given : [];
  const missing = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"].filter(
    (key) => !tolerations.some((toleration) => isAbout(toleration, key)),
  );
  return [
    ...tolerations,
    ...missing.map((key) => ({
      key,
      operator: "Exists",
      effect: "NoExecute",
      tolerationSeconds: NODE_CONDITION_TOLERATION_SECONDS,
    })),
  ];
}

function isAbout(toleration: JsonValue, taint: string): boolean {
  const key = textAt(toleration, "key");
  const effect = textAt(toleration, "effect");
  return (key === taint || key === "") && (effect === "NoExecute" || effect === "");
}

const QOS_RESOURCES = ["cpu", "memory"];

function qosClassOf(spec: JsonObject): string {
  const containers = [...objectsAt(spec, "containers"), ...objectsAt(spec, "initContainers")];
  const amounts = containers.flatMap((container) =>
    QOS_RESOURCES.map((resource) => ({
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

type Amount = Parameters<typeof compareQuantities>[0];
const NOTHING: Amount = { digits: 0n, scale: 0, format: "DecimalSI" };

function amount(value: JsonValue | undefined): Amount {
  if (typeof value !== "string") return NOTHING;
  const parsed = parseQuantity(value);
  return parsed.ok ? parsed.quantity : NOTHING;
}

function isNothing(quantity: Amount): boolean {
  return quantity.digits === 0n;
}
