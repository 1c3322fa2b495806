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
}

/** `kubectl get resourcebroker` lists the objects of every kind. */
export const CATEGORY = "resourcebroker";

/** The part of an object's metadata that this project reads or writes. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** An object as the API server holds it. */
export interface KubernetesObject<Spec, Status> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly spec: Spec;
  readonly status?: Status;
}

export function apiVersionOf(kind: Pick<Kind<unknown, unknown>, "group" | "version">): string {
  return `${kind.group}/${kind.version}`;
}

export const AGE: Column = {
  name: "Age",
  type: "date",
  jsonPath: ".metadata.creationTimestamp",
  description: "Time since the object was created.",
};
