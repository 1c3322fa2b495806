import type { Reservation } from "@resource-broker/contract/crd";
import type {
  AdoptionOffer,
  ClusterId,
  Command,
  Policy,
  QueuePlace,
  Reserve,
  ReservationRequest,
} from "@resource-broker/domain";
import type { StatusContext } from "../builders/reservation-status.ts";
import type { Step, Write } from "../projection/desired-object.ts";

/** The requested renewal: the text of the annotation and its parsed duration. */
export interface RenewalRequest {
  /** The annotation as it comes back in `status.renewed`. */
  readonly text: string;
  readonly durationMs?: number;
  readonly problem?: string;
}

/** What a request asks for, and whether it may wait. */
export type AskedFor = Pick<Reserve, "request" | "wait" | "namespace" | "resumes" | "protocol">;

/** A command of one of the parties. */
export type PartyCommand = Extract<Command, { readonly id: string }>;

export type ReservationCall =
  /** Adds the finalizer, if it is missing, before anything is reserved. */
  | { readonly kind: "decide"; readonly name?: "add-finalizer"; readonly asked: AskedFor }
  /** A signal of one of the parties. */
  | { readonly kind: "submit"; readonly name: string; readonly command: PartyCommand }
  | { readonly kind: "renew"; readonly renewal: RenewalRequest }
  /** The object was deleted: release the reservation, or leave the queue, unless the namespace or the CRD is being deleted. */
  | { readonly kind: "release-deleted" }
  | { readonly kind: "quote"; readonly request: ReservationRequest }
  | { readonly kind: "close-key" }
  | { readonly kind: "offer"; readonly by: ClusterId; readonly offer: AdoptionOffer };

export type ReservationWrite = Write<Reservation>;
export type ReservationStep = Step<Reservation, ReservationCall>;

/** An object, if there is one, and what the ledger knows. */
export interface ReservationState extends StatusContext {
  readonly namespace: string;
  readonly name: string;
  readonly object: Reservation | undefined;
  /** Serve what agents and people write. */
  readonly objects: boolean;
  /** Show the ledger. */
  readonly views: boolean;
  readonly policy: Policy;
  /** Its place in the queue, a short while ago. Undefined: it does not wait, or it was not looked at yet. */
  readonly place: QueuePlace | undefined;
  /** True: the policy has a quota for Reservations that name no requester. Otherwise none is served. */
  readonly mayBeUnnamed: boolean;
  /** Of an offer: this process has put it before the ledger not long ago. */
  readonly isOffered: boolean;
  /** An agent's or a person's object represents the reservation of this name, so that it needs no view. */
  readonly hasRequest: boolean;
  /** The ledger forgot the reservation of this name during this process. */
  readonly isForgotten: boolean;
}

/** The state of an existing object. */
export type ObjectState = ReservationState & { readonly object: Reservation };
