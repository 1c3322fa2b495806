import type { KubernetesObject, ObjectMeta } from "@resource-broker/base";
import type { ReconcileResult } from "@resource-broker/kube";
import {
  diffObjects,
  isStatusCurrent,
  type ObjectStatus,
  type StatusOwnership,
} from "../builders/conditions.ts";

/** A Reservation or ClusterAdvertisement. */
export type BrokerObject<Spec = object, Status extends ObjectStatus = ObjectStatus> = KubernetesObject<
  Spec,
  Status
>;

type StatusOf<T extends BrokerObject> = NonNullable<T["status"]>;

/** The desired view, without its status. */
export type DesiredObject<T extends BrokerObject> = Omit<T, "metadata" | "status"> & {
  readonly metadata: Required<Pick<ObjectMeta, "name" | "namespace" | "labels">>;
};

/** Fields that are applied together, with one field manager. */
export interface Part {
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec?: object;
  readonly status?: object;
}

/** Labels and fields of the spec that belong to one field manager. */
export interface Layer<T extends BrokerObject> {
  readonly fieldManager: string;
  readonly partOf: (desired: DesiredObject<T>) => Part & { readonly spec: object };
}

/** One write to an object. `isVersionRequired`: it fails with `conflict` if the object has changed since it was planned. */
export type Write<T extends BrokerObject> =
  | { readonly kind: "create"; readonly desired: DesiredObject<T> }
  | { readonly kind: "apply"; readonly name: string; readonly fieldManager: string; readonly part: Part }
  | {
      readonly kind: "patch";
      readonly name: string;
      readonly change: { readonly metadata?: object; readonly spec?: object };
      readonly isVersionRequired?: boolean;
    }
  | {
      readonly kind: "write-status";
      readonly name?: string;
      readonly status: StatusOf<T>;
      readonly isVersionRequired?: boolean;
    }
  | { readonly kind: "delete" };

/**
 * The next step for an object. After each step object and ledger are read again, so that a broker that crashes between two
 * steps continues correctly.
 */
export type Step<T extends BrokerObject, Call> =
  | (ReconcileResult & { readonly kind: "done" })
  /** Answers an agent or a person, at once. */
  | { readonly kind: "answer"; readonly write: Write<T> }
  /** Shows the ledger, as fast as the rate limiter allows. */
  | { readonly kind: "show"; readonly write: Write<T> }
  /** Calls the engine; its reply decides what follows. */
  | { readonly kind: "call"; readonly call: Call };

interface NamedStep {
  readonly kind: string;
  readonly name?: string;
}

export function stepName(
  step: { readonly kind: string } & ({ readonly write: NamedStep } | { readonly call: NamedStep }),
): string {
  const { kind, name = kind } = "write" in step ? step.write : step.call;
  return name;
}

/** What a view of one kind consists of. */
export interface ViewParts<T extends BrokerObject> {
  readonly layers: readonly Layer<T>[];
  readonly ownership: StatusOwnership;
}

/** The next write that makes an existing object show what is desired; undefined: it does. */
export function planView<T extends BrokerObject>(
  { desired, status }: { readonly desired: DesiredObject<T>; readonly status: StatusOf<T> },
  object: T,
  { layers, ownership }: ViewParts<T>,
): Write<T> | undefined {
  // The whole spec belongs to the broker.
  const { removals } = diffObjects(desired.spec, object.spec);
  if (removals !== undefined) return { kind: "patch", name: "prune", change: { spec: removals } };
  for (const { fieldManager, partOf } of layers) {
    const part = partOf(desired);
    if (differs(part, object)) return { kind: "apply", name: `apply ${fieldManager}`, fieldManager, part };
  }
  return statusWrite(status, object, ownership);
}

/** The write of a status; undefined: it would change nothing. */
export function statusWrite<T extends BrokerObject>(
  status: StatusOf<T>,
  object: T,
  ownership: StatusOwnership,
): Write<T> | undefined {
  return isStatusCurrent(status, object, ownership) ? undefined : { kind: "write-status", status };
}

/** The step that makes a write, if there is one to make. */
export function stepFor<T extends BrokerObject>(
  kind: "answer" | "show",
  write: Write<T> | undefined,
): Step<T, never> {
  return write === undefined ? { kind: "done" } : { kind, write };
}

/** True when a label or field of this part is missing or different. Labels that others add are ignored. */
function differs({ labels = {}, spec = {} }: Part, found: BrokerObject): boolean {
  return (
    diffObjects(labels, found.metadata.labels ?? {}).isOutdated || diffObjects(spec, found.spec).isOutdated
  );
}
