import type { CountedResources, NodeAccounting } from "@resource-broker/accounting";
import type { ResourceRequest } from "@resource-broker/contract/crd";
import type { BrokerLink } from "../broker/broker-link.ts";
import type { ObjectEvent, RecordEvent } from "../events/record-event.ts";
import type { Reservation } from "../reservations/reservation.ts";
import type { ReservationCache } from "../reservations/reservation-cache.ts";
import type { BrokerCommunicator } from "../transport/broker-communicator.ts";

/** The pods that may use the reserved resources. */
export type Offload = NonNullable<ResourceRequest["spec"]["offload"]>;

/** What is to be delivered: a reservation of this cluster as requester. */
export interface DeliverySpec {
  readonly reservation: Reservation;
  /** Absent: no namespace is offloaded. */
  readonly offload?: Offload;
}

interface StateDetail {
  /** The current step or problem: one CamelCase word. */
  readonly reason: string;
  readonly message: string;
}

interface InProgress extends StateDetail {
  readonly kind: "working";
  readonly retryAfterMs: number;
  /** True: it does not continue without help; a person should look at it. */
  readonly isStalled?: boolean;
}

/** State of the delivery in this cluster. */
export type DataPlaneState =
  /** `off`: this agent drives no data plane; the instruction is all that is delivered. */
  (StateDetail & { readonly kind: "ready" | "off" }) | InProgress;

/** State of the teardown. */
export type ReleaseState = { readonly kind: "clean" } | InProgress;

/** The requester's half: makes reserved resources usable by pods in this cluster. */
export interface RequesterDataPlane {
  /**
   * Takes the next step and returns the state. Called until ready, and again when something changed. While the reservation is
   * under notice, no new pods get to what it established.
   */
  readonly establish: (spec: DeliverySpec) => Promise<DataPlaneState>;
  /** Returns the observed state; writes nothing. */
  readonly observe: (spec: DeliverySpec) => Promise<DataPlaneState>;
  /** Takes the next step of the teardown; called until clean. The ID is all that a restarted agent may know. */
  readonly release: (reservationId: string) => Promise<ReleaseState>;
  /** The pods that run on what the reservation established. */
  readonly listPods: (reservationId: string) => Promise<readonly ObjectEvent["regarding"][]>;
  /** The reservations that have objects in this cluster; orphan collection compares them with the cache. */
  readonly listReservationIds: () => Promise<readonly string[]>;
}

/** How this cluster is known in the data plane; part of its advertisement. */
export interface DataPlaneIdentity {
  readonly clusterId: string;
  readonly version: string;
}

/** What the provider's half reads from the agent, and what it reports to it. */
export interface ProviderContext {
  readonly resources: CountedResources;
  readonly cache: ReservationCache;
  readonly communicator: Pick<BrokerCommunicator, "getReservation">;
  readonly link: Pick<BrokerLink, "isCurrent" | "view">;
  /** True once capacity is held for the reservation. */
  readonly isHeld: (reservationId: string) => boolean;
  /** False: the cluster's instructions were not listed yet, so its reservations are unknown. */
  readonly isReady: () => boolean;
  readonly recordEvent: RecordEvent;
  /** Called when the identity appeared, changed or disappeared. */
  readonly onIdentity: () => void;
  readonly onRetry: () => void;
}

/** The provider's half: lets requesters use what is reserved for them here, no more and no longer. */
export interface ProviderDataPlane {
  /** Resolves when the identity was looked for once, or after a timeout. */
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  /** Undefined: the data plane is not installed in this cluster. */
  readonly identity: () => DataPlaneIdentity | undefined;
}

/** Connects the clusters of a reservation, so that pods of the requester run at the provider. */
export interface DataPlane {
  readonly requester: RequesterDataPlane;
  readonly createProvider: (context: ProviderContext) => ProviderDataPlane;
  /** Which nodes are virtual, and which pods are guests. */
  readonly accounting: NodeAccounting;
  /** Called with what another cluster states to this one: a signed JWS, of which nothing was checked. Must not throw. */
  readonly onStatement?: (from: string, statement: string) => void;
  /** Called when the broker's stream has opened, or events were missed: statements must be sent again. Must not throw. */
  readonly onConnected?: () => void;
  /** Stops the work of the requester's half; a restarted agent continues it. */
  readonly stop: () => Promise<void>;
}
