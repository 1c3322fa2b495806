import type {
  AdoptionReplyDTO,
  AdoptionRequestDTO,
  AdvertisementDTO,
  AdvertisementReplyDTO,
  CapacityEventDTO,
  DecisionDTO,
  QuoteDTO,
  ReservationDTO,
  ReservationRequestDTO,
  ResetEventDTO,
} from "@resource-broker/contract";

export type Role = "requester" | "provider";

/** What the broker pushes. A fresh stream, and one after `reset`, begins with everything that is live. */
export type BrokerEvent =
  | { readonly kind: "instruction"; readonly reservation: ReservationDTO }
  | { readonly kind: "reservation"; readonly reservation: ReservationDTO }
  | { readonly kind: "capacity"; readonly capacity: CapacityEventDTO }
  | { readonly kind: "reset"; readonly reset: ResetEventDTO }
  /** Nothing but a sign of life. */
  | { readonly kind: "heartbeat" };

/** What every answer of the broker says by the way. */
export interface Contact {
  /** Undefined: a broker that does not say. A changed one has lost its memory. */
  readonly ledgerId: string | undefined;
  /** The broker's clock when it answered, in whole seconds as HTTP's Date gives it. Undefined: it did not say. */
  readonly brokerTimeMs: number | undefined;
  /** False: an older broker, which knows only advertisements, reservations and polled instructions. */
  readonly isCurrent: boolean;
}

/**
 * The agent's way to the broker, whatever the protocol. Refusals and failures are thrown as `Fault`: `unreachable`
 * when it is not known whether the call arrived, `unsupported` when the broker is too old for it.
 */
export interface BrokerCommunicator {
  /** Who the broker takes us for. Undefined: the transport does not know. */
  readonly identity: () => string | undefined;
  readonly publishAdvertisement: (advertisement: AdvertisementDTO) => Promise<AdvertisementReplyDTO>;
  /** Books at most once for each key, however often it is called. */
  readonly requestReservation: (request: ReservationRequestDTO, key: string) => Promise<ReservationDTO>;
  readonly fetchReservations: (role: Role) => Promise<readonly ReservationDTO[]>;
  /** Undefined: the broker knows no such reservation. */
  readonly fetchReservation: (id: string) => Promise<ReservationDTO | undefined>;
  readonly fetchInstructions: () => Promise<readonly ReservationDTO[]>;
  /**
   * One connection's worth of events, beginning with what is live now unless it can go on where the last one ended.
   * Ends or throws with the connection; call again to go on. Throws `unsupported` where only polling works.
   */
  readonly watchInstructions: (signal: AbortSignal) => AsyncIterable<BrokerEvent>;
  readonly activate: (id: string) => Promise<ReservationDTO>;
  /** `duration` Go style, from now. */
  readonly renew: (id: string, duration: string) => Promise<ReservationDTO>;
  /** Releasing what has ended, or was never there, is no error. */
  readonly release: (id: string) => Promise<void>;
  readonly releaseByKey: (key: string) => Promise<void>;
  /** The capacity is held. */
  readonly acknowledge: (id: string, generation: number | undefined) => Promise<void>;
  /** The capacity cannot be held. Refusing what has ended is no error. */
  readonly refuse: (id: string, reason: string) => Promise<void>;
  readonly quote: (request: ReservationRequestDTO) => Promise<QuoteDTO>;
  readonly explain: (decisionId: string) => Promise<DecisionDTO>;
  readonly adopt: (offers: AdoptionRequestDTO) => Promise<AdoptionReplyDTO>;
  /** Answers when the broker can be reached and lets us in. */
  readonly ping: () => Promise<void>;
  /** Called with every answer. Returns how to stop. */
  readonly onContact: (listener: (contact: Contact) => void) => () => void;
  readonly close: () => Promise<void>;
}
