import type { JsonObject } from "../json.ts";
import { nameOf } from "../json-access.ts";
import type { Cause, ResourceDefinition, Write } from "./definition.ts";
import { invalid, undecodable } from "./statuses.ts";

export interface Admitted {
  readonly object: JsonObject;
  readonly warnings: readonly string[];
}

/** Lets the kind judge a write; wrong metadata and wrong fields are told together. */
export function admitted(
  definition: ResourceDefinition,
  write: Write,
  metadataCauses: readonly Cause[],
): Admitted {
  const admission = definition.admit(write);
  if (!admission.ok && admission.code === 400) throw undecodable(definition, admission.causes);
  const causes = [...metadataCauses, ...(admission.ok ? [] : admission.causes)];
  if (!admission.ok || causes.length > 0) throw invalid(definition, nameOf(write.object), causes);
  return { object: admission.object, warnings: admission.warnings };
}
