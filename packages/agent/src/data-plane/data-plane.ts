import type { ReservationDTO, ResourceRequest } from "@resource-broker/contract";

/** The pods that may use the reserved resources. */
export type Offload = NonNullable<ResourceRequest["spec"]["offload"]>;

/** What is to be delivered: a reservation of this cluster as requester. */
export interface Loan {
  readonly reservation: ReservationDTO;
  /** Absent: no namespace is offloaded. */
  readonly offload?: Offload;
}

interface Stage {
  /** The current step or problem: one CamelCase word. */
  readonly reason: string;
  readonly message: string;
}

interface UnderWay extends Stage {
  readonly kind: "working";
  readonly retryAfterMs: number;
  /** True: it does not continue without help; a person should look at it. */
  readonly isTrouble?: boolean;
}

/** State of the delivery in this cluster. */
export type DataPlaneState =
  /** `off`: this agent drives no data plane; the instruction is all that is delivered. */
  (Stage & { readonly kind: "ready" | "off" }) | UnderWay;

/** State of the teardown. */
export type ReleaseState = { readonly kind: "clean" } | UnderWay;

/** Makes reserved resources usable by pods in this cluster. */
export interface DataPlane {
  /** Takes the next step and returns the state. Called until ready, and again when something changed. */
  readonly establish: (loan: Loan) => Promise<DataPlaneState>;
  /** Returns the observed state; writes nothing. */
  readonly observe: (loan: Loan) => Promise<DataPlaneState>;
  /** Takes the next step of the teardown; called until clean. The ID is all that a restarted agent may know. */
  readonly release: (reservationId: string) => Promise<ReleaseState>;
  /** The reservations that have objects in this cluster; orphan collection compares them with the cache. */
  readonly leftovers: () => Promise<readonly string[]>;
}
