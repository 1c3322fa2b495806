import type { ReservationDTO, ResourceRequest } from "@resource-broker/contract";

/** Which pods shall use what is borrowed. */
export type Offload = NonNullable<ResourceRequest["spec"]["offload"]>;

/** A reservation that this cluster borrows with. */
export interface Loan {
  readonly reservation: ReservationDTO;
  /** Absent: nobody said which pods shall use it. */
  readonly offload?: Offload;
}

interface Stage {
  /** The step it is at, or what is wrong: one CamelCase word. */
  readonly reason: string;
  readonly message: string;
}

interface UnderWay extends Stage {
  readonly kind: "working";
  readonly retryAfterMs: number;
  /** True: it does not go on by itself; a person should look at it. */
  readonly isTrouble?: boolean;
}

/** How far borrowed resources have come into this cluster. */
export type DataPlaneState =
  /** `off`: this agent drives no data plane; the instruction itself is the delivery. */
  (Stage & { readonly kind: "ready" | "off" }) | UnderWay;

/** How far they have gone out of it again. */
export type ReleaseState = { readonly kind: "clean" } | UnderWay;

/** What makes a reservation usable by pods here. */
export interface DataPlane {
  /** Takes the next step and says how far it has come; called again and again until ready, and when something changed. */
  readonly establish: (loan: Loan) => Promise<DataPlaneState>;
  /** What the objects say; writes nothing. */
  readonly observe: (loan: Loan) => Promise<DataPlaneState>;
  /** Takes the next step of the teardown; called until clean. The id is all that a restarted agent may know. */
  readonly release: (reservationId: string) => Promise<ReleaseState>;
  /** Reservations of which something is left in this cluster: what a restarted agent reaps. */
  readonly leftovers: () => Promise<readonly string[]>;
}
