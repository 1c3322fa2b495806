import type { JsonObject } from "../../json.ts";
import { type Fields, flag, list, long, struct, text, textMap, texts, time } from "./terms.ts";

const OWNER_REFERENCE = struct(
  "An object that this one belongs to and goes away with.",
  {
    apiVersion: text("Group and version of the owner."),
    kind: text("Kind of the owner."),
    name: text("Name of the owner."),
    uid: text("Uid of the owner: an object of the same name that came later is not meant."),
    controller: flag("True for the one owner that manages this object."),
    blockOwnerDeletion: flag(
      "True: the owner stays until this object is gone, when deleted in the foreground.",
    ),
  },
  ["apiVersion", "kind", "name", "uid"],
);

const MANAGED_FIELDS = struct("The fields that one manager has set.", {
  manager: text("Who set them."),
  operation: text("Apply or Update."),
  apiVersion: text("The version the fields were written in."),
  time: time("When they were last set."),
  fieldsType: text("The only one there is: FieldsV1."),
  fieldsV1: {
    type: "object",
    description: "The fields, as a tree.",
    "x-kubernetes-preserve-unknown-fields": true,
  },
  subresource: text("The subresource they were set through."),
});

/** What every object carries about itself. */
export const METADATA: JsonObject = struct("What every object carries about itself: name, labels, owners.", {
  name: text("Unique among the objects of its kind in its namespace; cannot be changed."),
  generateName: text("Where no name is given, the server makes one that begins with this."),
  namespace: text("The namespace it lives in; empty for kinds that belong to the cluster as a whole."),
  labels: textMap("Short keys and values that selectors can ask for."),
  annotations: textMap("Keys and values that nothing selects by; for tools and people."),
  finalizers: texts("Names that must be taken away, by whoever put them there, before a deletion completes."),
  ownerReferences: list(
    OWNER_REFERENCE,
    "The objects it belongs to; it is collected when all of them are gone.",
  ),
  uid: text("Set by the server; never used twice."),
  resourceVersion: text("Changes with every write. Sent along, a write fails when somebody else was faster."),
  generation: long("Counts the changes of what is wanted; set by the server."),
  creationTimestamp: time("When the object was created; set by the server."),
  deletionTimestamp: time("When deletion was asked for; set by the server."),
  deletionGracePeriodSeconds: long("How long the object may take to end; set by the server."),
  managedFields: list(MANAGED_FIELDS, "Who set which field."),
  selfLink: text("Not used any more."),
});

/** The schema of a whole object: the fields that all have and those of its kind. */
export function objectSchema(description: string, fields: Fields): JsonObject {
  return struct(description, {
    apiVersion: text("Group and version of the kind, such as v1 or coordination.k8s.io/v1."),
    kind: text("The kind of the object."),
    metadata: METADATA,
    ...fields,
  });
}
