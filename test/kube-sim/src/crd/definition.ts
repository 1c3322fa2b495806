import { createHash } from "node:crypto";
import { invalid, jsonText, required } from "../api/causes.ts";
import type { ClusterCore } from "../api/create-cluster-api.ts";
import { CUSTOM_RESOURCES } from "../api/create-object.ts";
import type { Admission, Cause, ResourceDefinition, Write } from "../api/cluster-api.ts";
import { resourceOf } from "../api/registry.ts";
import { isObject, type JsonObject, nameOf, objectAt, objectsAt, stringsAt, textAt } from "../json.ts";
import { objectAdmission } from "./admit-object.ts";
import { columnsOf, readJsonPath } from "./columns.ts";
import { ruleProblems } from "./rules.ts";
import { readSchema } from "./schema.ts";

/**
 * Completes a CustomResourceDefinition, which is established at once. Only what this server cannot serve is refused:
 * whether Kubernetes would take the definition is for a real API server to say.
 */
export function admitDefinition(write: Write): Admission {
  const { object } = write;
  if (write.isStatus) return { ok: true, object, warnings: [] };
  const causes = definitionCauses(object);
  if (causes.length > 0) return { ok: false, code: 422, causes };
  const spec = objectAt(object, "spec");
  const names = objectAt(spec, "names");
  const kind = textAt(names, "kind");
  const completed: JsonObject = {
    ...object,
    spec: {
      ...spec,
      names: { singular: kind.toLowerCase(), listKind: `${kind}List`, ...names },
      conversion: spec["conversion"] ?? { strategy: "None" },
    },
  };
  return { ok: true, object: { ...completed, status: statusOf(completed, write.old) }, warnings: [] };
}

function definitionCauses(crd: JsonObject): readonly Cause[] {
  const spec = objectAt(crd, "spec");
  const { plural, kind } = objectAt(spec, "names");
  if (typeof plural !== "string") return [required("spec.names.plural")];
  if (typeof kind !== "string") return [required("spec.names.kind")];
  const wanted = `${plural}.${textAt(spec, "group")}`;
  if (nameOf(crd) !== wanted)
    return [invalid("metadata.name", nameOf(crd), 'must be spec.names.plural+"."+spec.group')];
  if (objectAt(spec, "conversion")["strategy"] === "Webhook")
    return [
      invalid("spec.conversion.strategy", "Webhook", "kube-sim does not call conversion webhooks: use None"),
    ];
  const versions = objectsAt(spec, "versions");
  if (versions.filter((version) => version["storage"] === true).length !== 1)
    return [invalid("spec.versions", undefined, "must have exactly one version marked as storage version")];
  return versions.flatMap((version, index) => versionCauses(version, `spec.versions[${index}]`));
}

function versionCauses(version: JsonObject, field: string): readonly Cause[] {
  const place = `${field}.schema.openAPIV3Schema`;
  const raw = objectAt(version, "schema")["openAPIV3Schema"];
  if (!isObject(raw)) return [required(place, "schemas are required")];
  try {
    const schema = readSchema(raw);
    columnsOf(version);
    selectableFieldsOf(version);
    return ruleProblems(schema).map((problem) => invalid(place, undefined, problem));
  } catch (error) {
    return [invalid(place, undefined, error instanceof Error ? error.message : String(error))];
  }
}

function statusOf(crd: JsonObject, old: JsonObject | undefined): JsonObject {
  const spec = objectAt(crd, "spec");
  const before = objectAt(old, "status");
  const storage = objectsAt(spec, "versions").find((version) => version["storage"] === true);
  const stored = new Set([...stringsAt(before, "storedVersions"), textAt(storage ?? {}, "name")]);
  const lastTransitionTime = objectAt(crd, "metadata")["creationTimestamp"];
  const condition = (type: string, reason: string, message: string): JsonObject => ({
    type,
    status: "True",
    lastTransitionTime,
    reason,
    message,
  });
  return {
    ...before,
    conditions: before["conditions"] ?? [
      condition("NamesAccepted", "NoConflicts", "no conflicts found"),
      condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
    ],
    acceptedNames: spec["names"] ?? {},
    storedVersions: [...stored],
  };
}

/** The kinds that an admitted CustomResourceDefinition adds: one for each version that is served. */
export function definitionsOf(crd: JsonObject): readonly ResourceDefinition[] {
  const spec = objectAt(crd, "spec");
  return objectsAt(spec, "versions")
    .filter((version) => version["served"] === true)
    .map((version) => definitionOf(spec, version));
}

function definitionOf(spec: JsonObject, raw: JsonObject): ResourceDefinition {
  const names = objectAt(spec, "names");
  const group = textAt(spec, "group");
  const version = textAt(raw, "name");
  const kind = textAt(names, "kind");
  const schema = objectAt(raw, "schema.openAPIV3Schema");
  return {
    group,
    version,
    kind,
    listKind: textAt(names, "listKind"),
    plural: textAt(names, "plural"),
    singular: textAt(names, "singular"),
    shortNames: stringsAt(names, "shortNames"),
    categories: stringsAt(names, "categories"),
    isNamespaced: spec["scope"] === "Namespaced",
    hasStatus: objectAt(raw, "subresources")["status"] !== undefined,
    hasGeneration: true,
    columns: columnsOf(raw),
    admit: objectAdmission(readSchema(schema)),
    selectableFields: selectableFieldsOf(raw),
    schema,
  };
}

function selectableFieldsOf(version: JsonObject): ResourceDefinition["selectableFields"] {
  return Object.fromEntries(
    objectsAt(version, "selectableFields").map((field) => {
      const path = textAt(field, "jsonPath");
      const find = readJsonPath(path);
      const textOf = (object: JsonObject): string => {
        const value = find(object) ?? "";
        return typeof value === "string" ? value : jsonText(value);
      };
      return [path.replace(/^\./u, ""), textOf] as const;
    }),
  );
}

/** The kinds of a CustomResourceDefinition. */
export type ReadKinds = (crd: JsonObject) => readonly ResourceDefinition[];

/** Many clusters have the same kinds: their schemas are read once and shared. */
export function sharedKinds(): ReadKinds {
  const known = new Map<string, readonly ResourceDefinition[]>();
  return (crd) => {
    const key = createHash("sha256")
      .update(JSON.stringify(crd["spec"] ?? null))
      .digest("base64");
    const kinds = known.get(key) ?? definitionsOf(crd);
    known.set(key, kinds);
    return kinds;
  };
}

/** From now on a stored CustomResourceDefinition is a kind that is served. */
export function serveCustomKinds(core: ClusterCore, readKinds: ReadKinds): () => void {
  return core.onChange((definition, { before, after }) => {
    if (resourceOf(definition) !== resourceOf(CUSTOM_RESOURCES)) return;
    const old = before === undefined ? [] : readKinds(before);
    const current = after === undefined ? [] : readKinds(after);
    if (old === current) return;
    for (const kind of current) core.register(kind);
    for (const kind of old)
      if (!current.some(({ version }) => version === kind.version)) core.unregister(kind);
  });
}
