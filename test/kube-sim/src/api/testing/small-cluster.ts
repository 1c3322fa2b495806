import { type FakeClock, fakeClock } from "@resource-broker/testkit";
import type { JsonObject } from "../../json.ts";
import { metadataOf, objectAt, stringAt } from "../../json-access.ts";
import type {
  CollectionTarget,
  DeleteOptions,
  PatchOptions,
  WatchChange,
  WriteOptions,
} from "../cluster-api.ts";
import { type ClusterCore, createClusterApi } from "../create-cluster-api.ts";
import type { ResourceDefinition } from "../definition.ts";
import { podGrace } from "../pod-grace.ts";
import { StatusError } from "../status-error.ts";

/** Definitions made by hand, small enough to see what the api itself does. */
function kindOf(kind: string, changes: Partial<ResourceDefinition> = {}): ResourceDefinition {
  return {
    group: "",
    version: "v1",
    kind,
    listKind: `${kind}List`,
    plural: `${kind.toLowerCase()}s`,
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    isNamespaced: true,
    hasStatus: false,
    hasGeneration: false,
    columns: [],
    admit: ({ object }) => ({ ok: true, object, warnings: [] }),
    selectableFields: {},
    ...changes,
  };
}

export const NAMESPACE = kindOf("Namespace", { isNamespaced: false, hasStatus: true, mergeKeys: {} });
export const SERVICE = kindOf("Service", { mergeKeys: {} });
export const CRD = kindOf("CustomResourceDefinition", {
  group: "apiextensions.k8s.io",
  isNamespaced: false,
  mergeKeys: {},
});
export const POD = kindOf("Pod", {
  hasStatus: true,
  mergeKeys: { "spec.containers": "name", "spec.containers.ports": "containerPort" },
  selectableFields: { "spec.nodeName": (pod) => stringAt(objectAt(pod, "spec"), "nodeName") },
  graceSeconds: podGrace,
});
/** A custom resource: status apart, generation, needs a version for an update; spec.size must be a number. */
export const WIDGET = kindOf("Widget", {
  group: "example.com",
  hasStatus: true,
  hasGeneration: true,
  admit: ({ object, fieldValidation }) => {
    const { size = 0, surprise } = objectAt(object, "spec");
    if (typeof size !== "number") {
      const message = `Invalid value: ${JSON.stringify(size)}: must be a number`;
      return { ok: false, code: 422, causes: [{ reason: "FieldValueInvalid", field: "spec.size", message }] };
    }
    if (surprise === undefined || fieldValidation === "Ignore") return { ok: true, object, warnings: [] };
    const message = 'unknown field "spec.surprise"';
    if (fieldValidation === "Warn") return { ok: true, object, warnings: [message] };
    return {
      ok: false,
      code: 400,
      causes: [{ reason: "FieldValueInvalid", field: "spec.surprise", message }],
    };
  },
  schema: {
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: {
          parts: {
            type: "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            items: { type: "object" },
          },
          tags: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
          frame: { type: "object", "x-kubernetes-map-type": "atomic" },
        },
      },
    },
  },
});
/** A custom resource without namespaces. */
export const PLANT = kindOf("Plant", { group: "example.com", isNamespaced: false });

export const WRITE: WriteOptions = { dryRun: false, fieldManager: "test", fieldValidation: "Ignore" };
export const PATCH: PatchOptions = { ...WRITE, force: false };
export const DELETE: DeleteOptions = { dryRun: false, propagation: "Background" };
export const ANYWHERE = { resourceVersion: "" };

export interface SmallCluster extends ClusterCore {
  readonly time: FakeClock;
}

/** With the namespaces `default` and `other`. */
export function smallCluster(randomBytes: (size: number) => Uint8Array = countedBytes()): SmallCluster {
  const time = fakeClock();
  const definitions = [NAMESPACE, SERVICE, CRD, POD, WIDGET, PLANT];
  const core = createClusterApi({ clock: time, randomBytes, definitions });
  for (const name of ["default", "other"]) {
    core.api.create({ definition: NAMESPACE }, { metadata: { name } }, WRITE);
  }
  return { ...core, time };
}

/** Different every time and the same in every run. */
function countedBytes(): (size: number) => Uint8Array {
  let seed = 1;
  const next = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed & 0xff;
  };
  return (size) => Uint8Array.from({ length: size }, next);
}

export const WIDGETS: CollectionTarget = { definition: WIDGET, namespace: "default" };
export const PODS: CollectionTarget = { definition: POD, namespace: "default" };

export function widget(name: string, spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: "example.com/v1", kind: "Widget", metadata: { name, ...metadata }, spec };
}

export function versionOf(object: JsonObject): string {
  return stringAt(metadataOf(object), "resourceVersion");
}

/** The refusal an action ends in. */
export function refusalOf(action: () => unknown): StatusError {
  try {
    action();
  } catch (problem) {
    if (problem instanceof StatusError) return problem;
    throw problem;
  }
  throw new Error("nothing was refused");
}

/** `404 NotFound: pods "a" not found`. */
export function refusalText(action: () => unknown): string {
  const { code, message, status } = refusalOf(action);
  return `${code} ${stringAt(status, "reason")}: ${message}`;
}

/** `ADDED a`, one for each change. */
export function textsOf(changes: readonly WatchChange[]): readonly string[] {
  return changes.map(({ type, object }) => `${type} ${stringAt(metadataOf(object), "name")}`);
}
