import { invalid, required } from "../crd/causes.ts";
import type { JsonObject } from "../json.ts";
import { ageOf } from "../table/human-duration.ts";
import { builtIn } from "./built-in.ts";
import { AGE, column, textOr, wideColumn } from "./columns.ts";
import { numberAt, objectsAt, textAt, valueAt } from "./look.ts";
import { EVENT_SCHEMA, LEASE_SCHEMA, SERVICE_ACCOUNT_SCHEMA } from "./schema/small-kinds.ts";

export const SERVICE_ACCOUNTS = builtIn({
  kind: "ServiceAccount",
  plural: "serviceaccounts",
  shortNames: ["sa"],
  schema: SERVICE_ACCOUNT_SCHEMA,
  columns: [
    column("Secrets", (object) => objectsAt(object, "secrets").length, "How many secrets it has."),
    AGE,
  ],
  mergeKeys: { secrets: "name", imagePullSecrets: "name" },
});

export const LEASES = builtIn({
  group: "coordination.k8s.io",
  kind: "Lease",
  plural: "leases",
  updates: { allowsBlindUpdate: false, allowsCreateOnUpdate: true },
  schema: LEASE_SCHEMA,
  judge: (object) => {
    const seconds = valueAt(object, "spec.leaseDurationSeconds");
    if (typeof seconds !== "number" || seconds > 0) return [];
    return [invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0")];
  },
  columns: [column("Holder", (object) => textAt(object, "spec.holderIdentity"), "Who has it."), AGE],
});

export const EVENTS = builtIn({
  kind: "Event",
  plural: "events",
  updates: { allowsCreateOnUpdate: true },
  shortNames: ["ev"],
  schema: EVENT_SCHEMA,
  judge: (object) => {
    const about = textAt(object, "involvedObject.namespace");
    const own = textAt(object, "metadata.namespace");
    if (valueAt(object, "involvedObject") === undefined) return [required("involvedObject")];
    if (about === own || (about === "" && own === "default")) return [];
    return [invalid("involvedObject.namespace", about, "does not match event.namespace")];
  },
  columns: [
    column("Last Seen", lastSeen, "How long ago it happened last."),
    column("Type", textOr("type", ""), "Normal or Warning."),
    column("Reason", textOr("reason", ""), "What happened, as one word."),
    column("Object", involved, "What it happened to."),
    wideColumn("Subobject", textOr("involvedObject.fieldPath", ""), "The part it happened to."),
    wideColumn("Source", source, "Who says so."),
    column("Message", (object) => textAt(object, "message").trim(), "What happened."),
    wideColumn("First Seen", firstSeen, "How long ago it happened first."),
    wideColumn("Count", (object) => Math.max(1, numberAt(object, "count")), "How often it happened."),
    { ...wideColumn("Name", textOr("metadata.name"), "The name of the event itself."), format: "name" },
  ],
  selectable: [
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "type",
  ],
});

function involved(object: JsonObject): string {
  const kind = textAt(object, "involvedObject.kind").toLowerCase();
  const name = textAt(object, "involvedObject.name");
  return name === "" ? kind : `${kind}/${name}`;
}

function source(object: JsonObject): string {
  const component = textAt(object, "source.component") || textAt(object, "reportingComponent");
  const host = textAt(object, "source.host");
  return host === "" ? component : `${component}, ${host}`;
}

function firstSeen(object: JsonObject, nowMs: number): string {
  return ageOf(textAt(object, "firstTimestamp") || textAt(object, "eventTime"), nowMs);
}

function lastSeen(object: JsonObject, nowMs: number): string {
  const time =
    textAt(object, "series.lastObservedTime") ||
    textAt(object, "lastTimestamp") ||
    textAt(object, "eventTime");
  return ageOf(time, nowMs);
}
