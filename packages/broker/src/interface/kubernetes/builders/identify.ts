import { KUBE_LABEL, NOBODY, type Reservation } from "@resource-broker/contract/crd";
import {
  type Reservation as Booked,
  type ClusterId,
  type ReservationId,
  reservationNameFor,
} from "@resource-broker/domain";
import { sha256 } from "@resource-broker/runtime";

/**
 * Who created a Reservation object: the broker (a view of the ledger), an agent (the name is derived from its key), or a
 * person (any name; the object's UID is the key, so that a restarted broker does not reserve twice).
 */
export type ReservationOrigin = "view" | "agent" | "person";

export interface Identity {
  readonly origin: ReservationOrigin;
  readonly intent: NonNullable<Reservation["spec"]["intent"]>;
  readonly requester: ClusterId;
  readonly key: string;
  /** What it is, or will be, in the ledger. */
  readonly id: ReservationId;
}

export function identify({ metadata, spec }: Reservation): Identity {
  const { intent = "Reserve", requesterID: requester = NOBODY } = spec;
  const key = spec.key ?? metadata.uid ?? "";
  if (hasViewLabel({ metadata })) return { origin: "view", intent, requester, key, id: metadata.name };
  const origin = spec.key === undefined ? "person" : "agent";
  return { origin, intent, requester, key, id: reservationNameFor(requester, key, sha256) };
}

/** True when the ledger took this very object of an older broker over: under its name, with its UID as key. */
export function isImported(
  { metadata, spec }: Pick<Reservation, "metadata" | "spec">,
  found: Pick<Booked, "key"> | undefined,
): boolean {
  return spec.key === undefined && metadata.uid !== undefined && found?.key === metadata.uid;
}

/** True if the object carries the label of a view of the ledger. */
export function hasViewLabel({ metadata }: Pick<Reservation, "metadata">): boolean {
  return metadata.labels?.[KUBE_LABEL.view] === "true";
}
