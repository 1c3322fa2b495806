import type { Admission, Write } from "../../api/definition.ts";
import { objectAt } from "../../core/look.ts";
import type { JsonObject } from "../../json.ts";
import { pruned } from "../prune.ts";
import { objects, text, texts } from "../schema.ts";
import { definitionCauses } from "./check-definition.ts";
import { DEFINITION } from "./definition-schema.ts";

/** Judges a CustomResourceDefinition and completes it. It is established at once: there are no others to agree with. */
export function admitDefinition(write: Write): Admission {
  const { object: known, unknown } = pruned(write.object, DEFINITION);
  const unknownFields = unknown.map((field) => ({ field, message: `unknown field "${field}"` }));
  if (write.fieldValidation === "Strict" && unknownFields.length > 0) {
    const causes = unknownFields.map((cause) => ({ ...cause, reason: "FieldValueInvalid" as const }));
    return { ok: false, code: 400, causes };
  }
  const warnings = write.fieldValidation === "Warn" ? unknownFields.map(({ message }) => message) : [];
  if (write.isStatus) return { ok: true, object: known, warnings };
  const object = completed(known);
  const causes = definitionCauses(object, write.old);
  if (causes.length > 0) return { ok: false, code: 422, causes };
  return { ok: true, object: { ...object, status: statusOf(object, write.old) }, warnings };
}

function completed(crd: JsonObject): JsonObject {
  const spec = objectAt(crd, "spec");
  const names = objectAt(spec, "names");
  const kind = text(names["kind"]);
  const singular = text(names["singular"]) || kind.toLowerCase();
  const listKind = text(names["listKind"]) || (kind === "" ? "" : `${kind}List`);
  return {
    ...crd,
    spec: {
      ...spec,
      names: { ...names, singular, listKind },
      conversion: spec["conversion"] ?? { strategy: "None" },
    },
  };
}

function statusOf(crd: JsonObject, old: JsonObject | undefined): JsonObject {
  const spec = objectAt(crd, "spec");
  const before = objectAt(old, "status");
  const storage = objects(spec["versions"]).find((version) => version["storage"] === true);
  const stored = new Set([...texts(before["storedVersions"]), text(storage?.["name"])]);
  return {
    ...before,
    conditions: before["conditions"] ?? conditionsOf(crd),
    acceptedNames: spec["names"] ?? {},
    storedVersions: [...stored],
  };
}

function conditionsOf(crd: JsonObject): readonly JsonObject[] {
  const created = text(objectAt(crd, "metadata")["creationTimestamp"]);
  const since = created === "" ? {} : { lastTransitionTime: created };
  return [
    { type: "NamesAccepted", status: "True", ...since, reason: "NoConflicts", message: "no conflicts found" },
    {
      type: "Established",
      status: "True",
      ...since,
      reason: "InitialNamesAccepted",
      message: "the initial names have been accepted",
    },
  ];
}
