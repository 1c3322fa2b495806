import { type KnownResource, type KubernetesObject, RESOURCES } from "@resource-broker/base";
import type { Schema } from "../schema/node.ts";

/** A column of `kubectl get`. */
export interface Column {
  readonly name: string;
  readonly type: "string" | "integer" | "boolean" | "date";
  readonly jsonPath: string;
  readonly description: string;
  /** Shown with `-o wide` only. */
  readonly isWide?: boolean;
}

/** A rule over several fields, in CEL. Rules on one field come from its schema. */
export interface Rule {
  /** Where it is checked, from the object's root: "" or "spec" or "spec.weights". */
  readonly at: string;
  readonly rule: string;
  readonly message: string;
  /** Where the error is shown, below `at`. */
  readonly fieldPath?: string;
}

/** Everything there is to know about one kind of object. */
export interface Kind<Spec, Status> {
  readonly group: "rear.fluidos.eu" | "broker.fluidos.eu";
  readonly version: "v1alpha1";
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly description: string;
  readonly spec: Schema<Spec>;
  readonly status: Schema<Status>;
  readonly columns: readonly Column[];
  readonly rules?: readonly Rule[];
  /** Never set: it carries the type of the objects. */
  readonly object?: KubernetesObject<Spec, Status>;
}

/** The names of a kind, as Kubernetes forms them. */
export function kindNames(
  group: Kind<unknown, unknown>["group"],
  kind: string,
  shortName: string,
): Pick<Kind<unknown, unknown>, "group" | "version" | "kind" | "plural" | "singular" | "shortNames"> {
  const singular = kind.toLowerCase();
  const plural = `${singular}s`.replace(/ys$/, "ies");
  return { group, version: "v1alpha1", kind, plural, singular, shortNames: [shortName] };
}

/** `kubectl get resourcebroker` lists the objects of every kind. */
export const CATEGORY = "resourcebroker";

export function apiVersionOf(kind: Pick<Kind<unknown, unknown>, "group" | "version">): string {
  return `${kind.group}/${kind.version}`;
}

/** A column of text. */
export function column(name: string, jsonPath: string, description: string): Column {
  return { name, type: "string", jsonPath, description };
}

export function flag(name: string, jsonPath: string, description: string): Column {
  return { ...column(name, jsonPath, description), type: "boolean" };
}

export function wide(shown: Column): Column {
  return { ...shown, isWide: true };
}

export const AGE: Column = {
  ...column("Age", ".metadata.creationTimestamp", "Time since the object was created."),
  type: "date",
};

export const MESSAGE = wide(column("Message", ".status.message", "The state in words."));

interface AmountColumns {
  readonly main: readonly Column[];
  readonly wide: readonly Column[];
}

/** A column for each known resource. `pathTo` leads to its amount, `what` completes "CPU …". */
function amountColumns(pathTo: (resource: KnownResource) => string, what: string): AmountColumns {
  const columnOf = (resource: KnownResource) =>
    column(resource.title, pathTo(resource), `${capitalized(resource.noun)} ${what}.`);
  const known: readonly KnownResource[] = RESOURCES;
  return {
    main: known.filter(({ isWide }) => !isWide).map(columnOf),
    wide: known.filter(({ isWide }) => isWide).map((resource) => wide(columnOf(resource))),
  };
}

/** Where a set of quantities has the amount of a resource. */
function pathIn(quantities: string): (resource: KnownResource) => string {
  return ({ name, slot }) =>
    slot === undefined ? `${quantities}.extended.${name}` : `${quantities}.${name}`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const available = amountColumns(pathIn(".spec.resources.available"), "that can still be lent");

/** Both advertisement kinds show the same amounts. */
export const advertisementColumns: AmountColumns = {
  main: [column("Cluster", ".spec.clusterID", "The cluster that lends."), ...available.main],
  wide: [
    wide(column("CPU reserved", ".spec.resources.reserved.cpu", "CPU held by reservations.")),
    wide(column("Memory reserved", ".spec.resources.reserved.memory", "Memory held by reservations.")),
    wide(column("CPU allocatable", ".spec.resources.allocatable.cpu", "CPU the nodes can give to pods.")),
    wide(
      column(
        "Memory allocatable",
        ".spec.resources.allocatable.memory",
        "Memory the nodes can give to pods.",
      ),
    ),
    ...available.wide,
  ],
};

/** What is asked for or held, for the kinds that state it in flat fields. */
export const requestedColumns = amountColumns(
  ({ name, requestField }) =>
    requestField === undefined ? `.spec.extended.${name}` : `.spec.${requestField}`,
  "asked for",
);

/** What is held, for reservations. */
export const heldColumns = amountColumns(pathIn(".spec.requestedResources"), "held");

/** Shown with `-o wide` for both kinds of instruction. */
export const instructionDetailColumns: readonly Column[] = [
  ...requestedColumns.wide,
  wide(column("Expires", ".spec.expiresAt", "When it ends by itself.")),
  wide(column("Message", ".spec.message", "The instruction in words.")),
];
