import type { KubernetesObject } from "@resource-broker/base";
import {
  type Advertisement,
  advertisementKind,
  type Kind,
  type ProviderInstruction,
  providerInstructionKind,
  type ReservationInstruction,
  type ResourceRequest,
  reservationInstructionKind,
  resourceRequestKind,
} from "@resource-broker/contract/crd";
import { customResource, type Resource } from "@resource-broker/kube";

export type AnyObject = KubernetesObject<unknown, unknown>;

/** What people call a kind of object, and how the API server does. */
export interface ObjectKind<T extends AnyObject> {
  /** For sentences: "there is no request …". */
  readonly noun: string;
  readonly definition: Pick<
    Kind<unknown, unknown>,
    "group" | "version" | "singular" | "plural" | "shortNames"
  >;
  readonly resource: Resource<T>;
}

export const REQUESTS: ObjectKind<ResourceRequest> = {
  noun: "request",
  definition: resourceRequestKind,
  resource: customResource(resourceRequestKind),
};

export const ADVERTISEMENTS: ObjectKind<Advertisement> = {
  noun: "advertisement",
  definition: advertisementKind,
  resource: customResource(advertisementKind),
};

/** Of what this cluster borrows. */
export const RESERVATION_INSTRUCTIONS: ObjectKind<ReservationInstruction> = {
  noun: "instruction",
  definition: reservationInstructionKind,
  resource: customResource(reservationInstructionKind),
};

/** Of what this cluster lends. */
export const PROVIDER_INSTRUCTIONS: ObjectKind<ProviderInstruction> = {
  noun: "instruction",
  definition: providerInstructionKind,
  resource: customResource(providerInstructionKind),
};

/** `request/more`, `resourcerequest.rear.fluidos.eu/more` (what `-o name` prints) and `more` are the same. */
export function nameIn(word: string, kinds: readonly ObjectKind<AnyObject>[]): string {
  const slash = word.indexOf("/");
  if (slash < 0) return word;
  const prefix = word.slice(0, slash).toLowerCase();
  const isKnown = kinds.some(({ noun, definition: { singular, plural, group, shortNames } }) =>
    [
      noun,
      `${noun}s`,
      singular,
      plural,
      `${singular}.${group}`,
      `${plural}.${group}`,
      ...shortNames,
    ].includes(prefix),
  );
  return isKnown ? word.slice(slash + 1) : word;
}

/** As kubectl writes it: one can be handed to the other. */
export function fullName({ kind, apiVersion, metadata }: AnyObject): string {
  return `${kind.toLowerCase()}.${apiVersion.split("/")[0]}/${metadata.name}`;
}
