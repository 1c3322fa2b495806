import type {
  AdoptionReplyDTO,
  AdoptionRequestDTO,
  AdvertisementDTO,
  AdvertisementReplyDTO,
  CapacityEventDTO,
  CertificateReplyDTO,
  CertificateRequestDTO,
  DecisionDTO,
  PeerStatementDTO,
  QuoteDTO,
  ReservationDTO,
  ReservationRequestDTO,
  ResetEventDTO,
  WaitingRequestDTO,
} from "@resource-broker/contract";
import type { CallSender, ReservationOrWaiting, Role } from "./calls.ts";
import type { ResponseMetadata } from "./endpoints.ts";

/** What the broker pushes. A new stream, and one after `reset`, starts with all live reservations. */
export type BrokerEvent =
  | { readonly kind: "instruction"; readonly reservation: ReservationDTO }
  | { readonly kind: "reservation"; readonly reservation: ReservationDTO }
  /** A request of this cluster has left the queue without a reservation, or capacity is kept for it. */
  | { readonly kind: "waiting"; readonly waiting: WaitingRequestDTO }
  | { readonly kind: "capacity"; readonly capacity: CapacityEventDTO }
  | { readonly kind: "reset"; readonly reset: ResetEventDTO }
  /** The newest statement of a peer to this cluster. */
  | ({ readonly kind: "statement" } & PeerStatementDTO)
  /** A keep-alive without content. */
  | { readonly kind: "heartbeat" };

/**
 * The broker's API. Refusals and failures are thrown as `Fault`: `unreachable` when it is unknown whether the call
 * arrived, `unsupported` when the broker is too old for it.
 */
export interface BrokerClient extends CallSender {
  /** The Common Name of the certificate: the identity that the broker sees. */
  readonly identity: () => string;
  /** Advertises the capacity of the own cluster; the reply repeats it with the instructions for this provider. */
  readonly publish: (advertisement: AdvertisementDTO) => Promise<AdvertisementReplyDTO>;
  /** Reserves at most once for each key, however often it is called. */
  readonly reserve: (request: Omit<ReservationRequestDTO, "wait">, key: string) => Promise<ReservationDTO>;
  /** The same for a request that may wait. */
  readonly reserveOrWait: (request: ReservationRequestDTO, key: string) => Promise<ReservationOrWaiting>;
  /** All reservations of the own cluster in this role, to the last page. */
  readonly listReservations: (role: Role) => Promise<readonly ReservationDTO[]>;
  /** Undefined: the broker knows no such reservation. */
  readonly getReservation: (id: string) => Promise<ReservationDTO | undefined>;
  /** A request that waits, with its place in the queue, or that has left the queue. Undefined: there is none with this ID. */
  readonly getWaiting: (id: string) => Promise<WaitingRequestDTO | undefined>;
  /** The own requests that wait, with their places, to the last page. */
  readonly listWaiting: () => Promise<readonly WaitingRequestDTO[]>;
  /** The reservations that this provider has to hold. */
  readonly listInstructions: () => Promise<readonly ReservationDTO[]>;
  /**
   * The events of one connection. It starts with the live reservations, or continues after the last event. Ends
   * or throws with the connection; call again to continue. Throws `unsupported` where only polling works.
   */
  readonly watch: (signal: AbortSignal) => AsyncIterable<BrokerEvent>;
  /** The capacity is in use. May be repeated. */
  readonly activate: (id: string) => Promise<ReservationDTO>;
  /** `duration` Go style, from now. */
  readonly renew: (id: string, duration: string) => Promise<ReservationDTO>;
  /** Releasing an ended or unknown reservation is no error. */
  readonly release: (id: string) => Promise<void>;
  /** Releases what was reserved with the key, and what a late call would still reserve with it. */
  readonly releaseByKey: (key: string) => Promise<void>;
  /** The capacity is held. */
  readonly acknowledge: (id: string, generation: number | undefined) => Promise<void>;
  /** The capacity cannot be held. Refusing an ended reservation is no error. */
  readonly refuse: (id: string, reason: string) => Promise<void>;
  /** What `reserve` would answer, without reserving. */
  readonly quote: (request: ReservationRequestDTO) => Promise<QuoteDTO>;
  /** Why the broker decided as it did: the reasons and scores of every cluster. */
  readonly getDecision: (decisionId: string) => Promise<DecisionDTO>;
  /** Offers live reservations to a broker that has lost its state. */
  readonly adopt: (offers: AdoptionRequestDTO) => Promise<AdoptionReplyDTO>;
  /** The next certificate of this cluster, for the key in the request. */
  readonly renewCertificate: (request: CertificateRequestDTO) => Promise<CertificateReplyDTO>;
  /** Replaces what this cluster states to another one; `statement` is a signed JWS. */
  readonly putStatement: (to: string, statement: string) => Promise<void>;
  /** The newest statement of each peer to this cluster. */
  readonly listStatements: () => Promise<readonly PeerStatementDTO[]>;
  /** Resolves when the broker answers and accepts the certificate. */
  readonly ping: () => Promise<void>;
  /** Called with every answer. Returns the function that unsubscribes. */
  readonly onResponse: (listener: (response: ResponseMetadata) => void) => () => void;
  /** Ends open calls and streams with `unreachable`. */
  readonly close: () => Promise<void>;
}
