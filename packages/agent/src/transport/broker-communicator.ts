import type { BrokerEvent, ResponseMetadata, Role } from "@resource-broker/client";
import type {
  AdoptionReplyDTO,
  AdoptionRequestDTO,
  AdvertisementDTO,
  AdvertisementReplyDTO,
  DecisionDTO,
  QuoteDTO,
  ReservationDTO,
  ReservationRequestDTO,
} from "@resource-broker/contract";
import type { Reservation } from "../reservations/reservation.ts";

export type { BrokerEvent, ResponseMetadata, Role };

/** A request as it is sent: the amounts are the user's text. */
export type ReservationRequestBody = ReservationRequestDTO;

/** Capacity was freed at some provider, or is at risk at a provider of these reservations. */
export interface CapacityChange {
  readonly change: "freed" | "at-risk";
  readonly reservationIds: readonly string[];
  readonly message: string;
}

/** What the broker pushes, as the agent reads it. */
export type ReservationEvent =
  | { readonly kind: "instruction" | "reservation"; readonly reservation: Reservation }
  | { readonly kind: "capacity"; readonly capacity: CapacityChange }
  | { readonly kind: "reset" | "heartbeat" };

/** The broker's answer to one reservation that was offered for adoption. */
export interface AdoptionResult {
  readonly id: string;
  readonly outcome: "adopted" | "waiting" | "disputed" | "refused";
  readonly message: string;
  readonly reservation: Reservation | undefined;
}

/**
 * The agent's port to the broker, in the agent's own types. Refusals and failures are thrown as `Fault`, as
 * `BrokerTransport` says.
 */
export interface BrokerCommunicator
  extends Pick<
    BrokerTransport,
    "identity" | "release" | "releaseByKey" | "acknowledge" | "refuse" | "ping" | "onResponse" | "close"
  > {
  readonly publishAdvertisement: (advertisement: AdvertisementDTO) => Promise<{
    readonly advertisement: AdvertisementDTO;
    /** Undefined: the broker does not say. */
    readonly instructions: readonly Reservation[] | undefined;
  }>;
  readonly requestReservation: (request: ReservationRequestBody, key: string) => Promise<Reservation>;
  readonly fetchReservations: (role: Role) => Promise<readonly Reservation[]>;
  readonly fetchReservation: (id: string) => Promise<Reservation | undefined>;
  readonly fetchInstructions: () => Promise<readonly Reservation[]>;
  readonly watchInstructions: (signal: AbortSignal) => AsyncIterable<ReservationEvent>;
  readonly activate: (id: string) => Promise<Reservation>;
  readonly adopt: (reservations: readonly Reservation[]) => Promise<readonly AdoptionResult[]>;
}

/**
 * The broker's API over one protocol, as it is on the wire. Refusals and failures are thrown as `Fault`:
 * `unreachable` when it is unknown whether the call arrived, `unsupported` when the broker is too old for it.
 */
export interface BrokerTransport {
  /** The identity that the broker sees. Undefined: the transport does not know. */
  readonly identity: () => string | undefined;
  readonly publishAdvertisement: (advertisement: AdvertisementDTO) => Promise<AdvertisementReplyDTO>;
  /** Reserves at most once for each key, however often it is called. */
  readonly requestReservation: (request: ReservationRequestDTO, key: string) => Promise<ReservationDTO>;
  readonly fetchReservations: (role: Role) => Promise<readonly ReservationDTO[]>;
  /** Undefined: the broker knows no such reservation. */
  readonly fetchReservation: (id: string) => Promise<ReservationDTO | undefined>;
  readonly fetchInstructions: () => Promise<readonly ReservationDTO[]>;
  /**
   * The events of one connection. It starts with the live reservations, or continues after the last event. Ends
   * or throws with the connection; call again to continue. Throws `unsupported` where only polling works.
   */
  readonly watchInstructions: (signal: AbortSignal) => AsyncIterable<BrokerEvent>;
  readonly activate: (id: string) => Promise<ReservationDTO>;
  /** `duration` Go style, from now. */
  readonly renew: (id: string, duration: string) => Promise<ReservationDTO>;
  /** Releasing an ended or unknown reservation is no error. */
  readonly release: (id: string) => Promise<void>;
  readonly releaseByKey: (key: string) => Promise<void>;
  /** The capacity is held. */
  readonly acknowledge: (id: string, generation: number | undefined) => Promise<void>;
  /** The capacity cannot be held. Refusing an ended reservation is no error. */
  readonly refuse: (id: string, reason: string) => Promise<void>;
  readonly quote: (request: ReservationRequestDTO) => Promise<QuoteDTO>;
  readonly explain: (decisionId: string) => Promise<DecisionDTO>;
  readonly adopt: (offers: AdoptionRequestDTO) => Promise<AdoptionReplyDTO>;
  /** Resolves when the broker answers and accepts this agent. */
  readonly ping: () => Promise<void>;
  /** Called with every answer. Returns the function that unsubscribes. */
  readonly onResponse: (listener: (contact: ResponseMetadata) => void) => () => void;
  readonly close: () => Promise<void>;
}
