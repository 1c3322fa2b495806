import type { KubernetesObject } from "@resource-broker/base";
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
  readonly rules: readonly Rule[];
  /** Never set: it carries the type of the objects. */
  readonly object?: KubernetesObject<Spec, Status>;
}

/** `kubectl get resourcebroker` lists the objects of every kind. */
export const CATEGORY = "resourcebroker";

export function apiVersionOf(kind: Pick<Kind<unknown, unknown>, "group" | "version">): string {
  return `${kind.group}/${kind.version}`;
}

export const AGE: Column = {
  name: "Age",
  type: "date",
  jsonPath: ".metadata.creationTimestamp",
  description: "Time since the object was created.",
};

const wide = (name: string, jsonPath: string, description: string): Column => ({
  name,
  type: "string",
  jsonPath,
  description,
  isWide: true,
});

const amount = (name: string, jsonPath: string, description: string): Column => ({
  name,
  type: "string",
  jsonPath,
  description,
});

/** Both advertisement kinds show the same amounts. */
export const advertisementColumns: { readonly main: readonly Column[]; readonly wide: readonly Column[] } = {
  main: [
    amount("Cluster", ".spec.clusterID", "The cluster that lends."),
    amount("CPU", ".spec.resources.available.cpu", "CPU that can still be lent."),
    amount("Memory", ".spec.resources.available.memory", "Memory that can still be lent."),
    amount("GPU", ".spec.resources.available.gpu", "GPUs that can still be lent."),
  ],
  wide: [
    wide("CPU reserved", ".spec.resources.reserved.cpu", "CPU held by reservations."),
    wide("Memory reserved", ".spec.resources.reserved.memory", "Memory held by reservations."),
    wide("CPU allocatable", ".spec.resources.allocatable.cpu", "CPU the nodes can give to pods."),
    wide("Memory allocatable", ".spec.resources.allocatable.memory", "Memory the nodes can give to pods."),
  ],
};

/** What is asked for or held, for the kinds that state it in flat fields. */
export const requestedColumns: readonly Column[] = [
  amount("CPU", ".spec.requestedCPU", "CPU that is asked for."),
  amount("Memory", ".spec.requestedMemory", "Memory that is asked for."),
];

export const requestedGpuColumn = amount("GPU", ".spec.requestedGPU", "GPUs that are asked for.");

/** Shown with `-o wide` for both kinds of instruction. */
export const instructionDetailColumns: readonly Column[] = [
  wide("Expires", ".spec.expiresAt", "When it ends by itself."),
  wide("Message", ".spec.message", "The instruction in words."),
];
