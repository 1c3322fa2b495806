import type { ReservationDTO, ResourceRequest } from "@resource-broker/contract";

/** The pods that may use the reserved resources. */
export type Offload = NonNullable<ResourceRequest["spec"]["offload"]>;

/** What is to be delivered: a reservation of this cluster as requester. */
export interface DeliverySpec {
  readonly reservation: ReservationDTO;
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

/** Makes reserved resources usable by pods in this cluster. */
export interface DataPlane {
  /** Takes the next step and returns the state. Called until ready, and again when something changed. */
  readonly establish: (spec: DeliverySpec) => Promise<DataPlaneState>;
  /** Returns the observed state; writes nothing. */
  readonly observe: (spec: DeliverySpec) => Promise<DataPlaneState>;
  /** Takes the next step of the teardown; called until clean. The ID is all that a restarted agent may know. */
  readonly release: (reservationId: string) => Promise<ReleaseState>;
  /** The reservations that have objects in this cluster; orphan collection compares them with the cache. */
  readonly listReservationIds: () => Promise<readonly string[]>;
}
